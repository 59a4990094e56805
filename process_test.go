package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a run of the program, as somebody would start it.
type process struct {
	command *exec.Cmd
	lines   chan string // of its standard output
	stderr  *safeBuffer
	exited  chan error
}

// start runs the program with nothing in its environment but what is given.
func start(t *testing.T, environment []string, args ...string) *process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return startProgram(t, path, environment, func(*syscall.SysProcAttr) {}, args...)
}

// startProgram runs a program, as whom attributes say.
func startProgram(t *testing.T, path string, environment []string, attributes func(*syscall.SysProcAttr), args ...string) *process {
	t.Helper()
	p := &process{command: exec.Command(path, args...), lines: make(chan string, 100), stderr: &safeBuffer{}, exited: make(chan error, 1)}
	p.command.Env = append([]string{"HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir()}, environment...)
	p.command.SysProcAttr = &syscall.SysProcAttr{}
	attributes(p.command.SysProcAttr)
	p.command.Stderr = p.stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go p.follow(stdout)
	t.Cleanup(func() {
		p.command.Process.Kill()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", strings.Join(args, " "), p.stderr.String())
		}
	})
	return p
}

func (p *process) follow(stdout io.Reader) {
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		p.lines <- scanner.Text()
	}
	close(p.lines)
	p.exited <- p.command.Wait()
}

// says waits for a line that matches and gives its first group.
func (p *process) says(t *testing.T, pattern string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("the process ended without saying %s: %s", pattern, p.stderr.String())
			}
			if match := expression.FindStringSubmatch(line); match != nil {
				return match[len(match)-1]
			}
		case <-timeout:
			t.Fatalf("the process did not say %s: %s", pattern, p.stderr.String())
		}
	}
}

// wait waits for the process's end and gives its exit code; -1 where a signal ended it.
func (p *process) wait(t *testing.T, atMost time.Duration) int {
	t.Helper()
	timeout := time.After(atMost)
	for {
		select {
		case <-p.lines: // what nobody reads must not hold it up
		case err := <-p.exited:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exit.ExitCode()
			}
			if err != nil {
				t.Fatal(err)
			}
			return 0
		case <-timeout:
			t.Fatalf("the process did not end within %v", atMost)
		}
	}
}

// kill ends the process as a power cut would, for all that it can tell.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait(t, patience)
}

// terminate asks the process to end, and holds it to the ten seconds that it has.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d after SIGTERM: %s", code, p.stderr.String())
	}
}

// serving starts a server and gives its API.
func serving(t *testing.T, environment []string, args ...string) (*process, *api) {
	t.Helper()
	p := start(t, environment, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	return p, &api{url: p.says(t, `at (http://\S+)/graphql`)}
}

// safeBuffer is a buffer that a process writes while a test reads.
type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
