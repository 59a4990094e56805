package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
)

// daemon is a long-running process of the program.
type daemon struct {
	command   *exec.Cmd
	log       *os.File // its standard error, appended to that of earlier processes
	announced string   // first group of the match in its output
	ended     chan error
}

// daemon starts the program with additional environment variables and waits for an output line
// that matches. announced is set to the first group of the match. The log is a file next to the
// program.
func (p program) daemon(
	ctx context.Context, log string, environment []string, line *regexp.Regexp, arguments ...string,
) (*daemon, error) {
	d := &daemon{command: p.command(ctx, arguments...), ended: make(chan error, 1)}
	d.command.Env = append(d.command.Env, environment...)
	path := filepath.Join(filepath.Dir(p.path), log)
	var err error
	if d.log, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	d.command.Stderr = d.log
	output, err := d.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if match := line.FindStringSubmatch(lines.Text()); match != nil {
			d.announced = match[1]
			go d.follow(output)
			return d, nil
		}
	}
	d.follow(output)
	return nil, fmt.Errorf("%s ended before printing %s: %w; see its log %s",
		arguments[0], line, <-d.ended, d.log.Name())
}

// follow waits for the process to end. It reads the output so that the process never blocks on
// it.
func (d *daemon) follow(output io.Reader) {
	_, err := io.Copy(io.Discard, output)
	d.ended <- errors.Join(err, d.command.Wait(), d.log.Close())
}

// kill sends SIGKILL: the process gets no chance to clean up, as after a power failure. It
// returns an error if the process had already ended.
func (d *daemon) kill() error {
	select {
	case err := <-d.ended:
		return fmt.Errorf("the process had already ended (%w); see its log %s", err, d.log.Name())
	default:
	}
	if err := d.command.Process.Kill(); err != nil {
		return err
	}
	<-d.ended
	return nil
}

// end sends SIGTERM and waits. It returns an error if the process does not end with status 0.
func (d *daemon) end() error {
	if err := d.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("%w; see its log %s", err, d.log.Name())
	}
	if err := <-d.ended; err != nil {
		return fmt.Errorf("the process ended with %w; see its log %s", err, d.log.Name())
	}
	return nil
}

// pause suspends the process until resume.
func (d *daemon) pause() error { return d.command.Process.Signal(syscall.SIGSTOP) }

func (d *daemon) resume() error { return d.command.Process.Signal(syscall.SIGCONT) }
