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

// daemon is a run of the program that goes on until it is ended.
type daemon struct {
	command *exec.Cmd
	log     *os.File // what it wrote to its standard error, behind what others did
	says    string   // what was waited for
	ended   chan error
}

// daemon starts the program with more in its environment, and waits for a line that matches: what its first group matches
// is what the daemon says. Its log goes to a file of the folder.
func (p program) daemon(ctx context.Context, log string, environment []string, line *regexp.Regexp, arguments ...string) (*daemon, error) {
	d := &daemon{command: p.command(ctx, arguments...), ended: make(chan error, 1)}
	d.command.Env = append(d.command.Env, environment...)
	var err error
	if d.log, err = os.OpenFile(filepath.Join(filepath.Dir(p.path), log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
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
			d.says = match[1]
			go d.follow(output)
			return d, nil
		}
	}
	d.follow(output)
	return nil, fmt.Errorf("%s ended without saying %s: %w; its log is %s", arguments[0], line, <-d.ended, d.log.Name())
}

// follow waits for the end, and lets nothing that is written before hold it up.
func (d *daemon) follow(output io.Reader) {
	_, err := io.Copy(io.Discard, output)
	d.ended <- errors.Join(err, d.command.Wait(), d.log.Close())
}

// kill ends the process as a power cut would, for all that it can tell. Error: it had ended by itself.
func (d *daemon) kill() error {
	select {
	case err := <-d.ended:
		return fmt.Errorf("it had ended by itself (%w); its log is %s", err, d.log.Name())
	default:
	}
	if err := d.command.Process.Kill(); err != nil {
		return err
	}
	<-d.ended
	return nil
}

// end asks the process to end. Error: it does not do so in order.
func (d *daemon) end() error {
	if err := d.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("%w; its log is %s", err, d.log.Name())
	}
	if err := <-d.ended; err != nil {
		return fmt.Errorf("it ends with %w; its log is %s", err, d.log.Name())
	}
	return nil
}

// halt stops the process until it is told to go on.
func (d *daemon) halt() error { return d.command.Process.Signal(syscall.SIGSTOP) }

func (d *daemon) goOn() error { return d.command.Process.Signal(syscall.SIGCONT) }
