package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// program is a cosmosblog binary.
type program struct{ path string }

// buildProgram builds the program of this module into a folder.
func buildProgram(ctx context.Context, folder string) (program, error) {
	p := program{filepath.Join(folder, "cosmosblog")}
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", p.path, "cosmosblog").CombinedOutput(); err != nil {
		return p, fmt.Errorf("go build: %w\n%s", err, output)
	}
	return p, nil
}

// passedOn lists the environment variables that all processes of a benchmark get. All others
// could change the program's settings.
var passedOn = []string{"HOME", "PATH", "TMPDIR", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"}

func environment() (variables []string) {
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// output runs a command of the program to its end and returns its standard output.
func (p program) output(ctx context.Context, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, p.path, arguments...)
	c.Env = environment()
	output, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s: %w\n%s", arguments[0], err, exit.Stderr)
	}
	return string(output), err
}

// seed writes a data set to a folder. A finished data set is not written again.
func (p program) seed(ctx context.Context, data string, users int) error {
	marker := filepath.Join(data, "seeded")
	if _, err := os.Stat(marker); err == nil {
		return nil
	}
	output, err := p.output(ctx, "seed", "--users", strconv.Itoa(users), "--data", data)
	if err != nil {
		return err
	}
	// An interrupted seed of an earlier build ends with status 0, but without this line.
	if !strings.Contains(output, " items in all, ") {
		return fmt.Errorf("seeding did not finish: %s", output)
	}
	return os.WriteFile(marker, nil, 0o600)
}

// tokens returns a function that prints tokens of a data folder.
func (p program) tokens(ctx context.Context, data string) func(subject string) (string, error) {
	return func(subject string) (string, error) {
		text, err := p.output(ctx, "token", "--sub", subject, "--data", data)
		return strings.TrimSpace(text), err
	}
}

// hasCache reports whether the program has a read cache.
func (p program) hasCache(ctx context.Context) (bool, error) {
	help, err := p.output(ctx, "serve", "--help")
	return strings.Contains(help, "--cache-bytes"), err
}

// process is a running server. Its log is a file.
type process struct {
	command *exec.Cmd
	address string
	log     *os.File
	ended   chan error
}

var servesAt = regexp.MustCompile(`(?:at|serves) http://([^/\s]+)`)

// serve starts a server on a data folder. Its log has the level info and is written to a file.
func (p program) serve(ctx context.Context, data, log string, arguments ...string) (*process, error) {
	arguments = append([]string{"serve", "--addr", "127.0.0.1:0", "--log-level", "info", "--data", data}, arguments...)
	c := exec.CommandContext(ctx, p.path, arguments...)
	return launch(c, log)
}

// engine serves the embedded engine of a data folder, with the key of the emulators.
func (p program) engine(ctx context.Context, data, log string) (*process, error) {
	return launch(exec.CommandContext(ctx, p.path, "engine", "--addr", "127.0.0.1:0", "--data", data), log)
}

// launch starts a command, whose environment is added to that of all, and waits until it prints its
// address.
func launch(c *exec.Cmd, log string) (*process, error) {
	p := &process{command: c, ended: make(chan error, 1)}
	c.Env = append(environment(), c.Env...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 20 * time.Second
	var err error
	if p.log, err = os.Create(log); err != nil {
		return nil, err
	}
	c.Stderr = p.log
	output, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if match := servesAt.FindStringSubmatch(lines.Text()); match != nil {
			p.address = match[1]
			go func() {
				_, err := io.Copy(io.Discard, output)
				p.ended <- errors.Join(err, c.Wait(), p.log.Close())
			}()
			return p, nil
		}
	}
	err = c.Wait()
	text, _ := os.ReadFile(log)
	return nil, fmt.Errorf("%s did not start: %w\n%s", c.Path, err, excerpt(text))
}

// end sends SIGTERM and waits. It returns an error if the process does not end with status 0.
func (p *process) end() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := <-p.ended; err != nil {
		return fmt.Errorf("%s: %w; see its log %s", p.command.Path, err, p.log.Name())
	}
	return nil
}

// processorTime returns the user and system time of a process so far, in steps of 10 ms. It is
// not known on systems without /proc.
func processorTime(pid int) (total time.Duration, isKnown bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	return parseProcessorTime(string(text))
}

// parseProcessorTime returns utime and stime of /proc/PID/stat (proc_pid_stat(5), fields 14 and
// 15). They count ticks of 1/100 s on all platforms of Linux that Go supports. The fields are
// counted from the end of the command name, which can contain blanks.
func parseProcessorTime(stat string) (total time.Duration, isKnown bool) {
	const tick = time.Second / 100
	_, rest, found := cutLast(stat, ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 13 {
		return 0, false
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err, err2) == nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// metrics are the sums of a server's metrics over their labels, by name.
type metrics map[string]float64

// metrics reads the metrics of a server.
func (p *process) metrics(ctx context.Context) (metrics, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("/metrics: %s", response.Status)
	}
	return parseMetrics(response.Body)
}

func parseMetrics(text io.Reader) (metrics, error) {
	sums := metrics{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		series, value, found := cutLast(lines.Text(), " ")
		if !found || strings.HasPrefix(series, "#") {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("malformed metric: %s", lines.Text())
		}
		name, _, _ := strings.Cut(series, "{")
		sums[name] += number
	}
	return sums, lines.Err()
}

// allocations returns the number of allocations of a server so far.
func (p *process) allocations(ctx context.Context) (float64, error) {
	m, err := p.metrics(ctx)
	if err == nil && m["go_memstats_mallocs_total"] == 0 {
		err = errors.New("/metrics has no go_memstats_mallocs_total")
	}
	return m["go_memstats_mallocs_total"], err
}

const (
	settleStep    = 100 * time.Millisecond
	settleTimeout = time.Minute
)

// settle waits until the projector has processed all changes: no lag, and no more changes than
// one step before. It returns how many times it read the metrics.
func (p *process) settle(ctx context.Context) (reads int, err error) {
	const lag, changes = "cosmosblog_projector_lag_changes", "cosmosblog_projector_changes_total"
	for before, end := -1.0, time.Now().Add(settleTimeout); time.Now().Before(end); {
		m, err := p.metrics(ctx)
		if err != nil {
			return reads, err
		}
		reads++
		if m[lag] == 0 && m[changes] == before {
			return reads, nil
		}
		before = m[changes]
		select {
		case <-time.After(settleStep):
		case <-ctx.Done():
			return reads, context.Cause(ctx)
		}
	}
	return reads, fmt.Errorf("the projector did not process all changes within %v", settleTimeout)
}

// copyFolder copies a data folder with the modes of its files, which the program checks.
func copyFolder(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return os.Chmod(filepath.Join(to, relative), info.Mode())
	})
}
