package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// keyVariable is the environment variable with the master key.
const keyVariable = "COSMOSBLOG_ENGINE_KEY"

// program is the program under test.
type program struct {
	path string
	key  string // master key of the engine
}

// buildProgram builds the program of this module into a folder.
func buildProgram(ctx context.Context, folder, key string) (program, error) {
	p := program{filepath.Join(folder, "cosmosblog"), key}
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", p.path, "cosmosblog").CombinedOutput(); err != nil {
		return p, fmt.Errorf("go build: %w\n%s", err, output)
	}
	return p, nil
}

// command returns a command that runs the program with a minimal environment.
func (p program) command(ctx context.Context, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.path, arguments...)
	c.Env = []string{"HOME=" + filepath.Dir(p.path), keyVariable + "=" + p.key}
	return c
}

// do runs the program to its end with additional environment variables, and returns its output.
func (p program) do(ctx context.Context, environment []string, arguments ...string) (string, error) {
	c := p.command(ctx, arguments...)
	c.Env = append(c.Env, environment...)
	output, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", arguments[0], err, output)
	}
	return strings.TrimSpace(string(output)), nil
}

// process is a running account.
type process struct {
	command *exec.Cmd
	log     *bytes.Buffer // its standard error; read after the process ended
	url     string
	output  *os.File
	lines   *bufio.Scanner // of output
}

var serves = regexp.MustCompile(` serves (http://\S+)`)

// launch starts the program as an account or an engine. It may not accept requests yet.
func (p program) launch(ctx context.Context, arguments ...string) (*process, error) {
	e := &process{command: p.command(ctx, arguments...), log: &bytes.Buffer{}}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	e.output = reader
	e.command.Stdout, e.command.Stderr = writer, e.log
	err = e.command.Start()
	return e, errors.Join(err, writer.Close())
}

// start is launch, and waits until the process prints its address.
func (p program) start(ctx context.Context, arguments ...string) (*process, error) {
	e, err := p.launch(ctx, arguments...)
	if err != nil {
		return nil, err
	}
	e.lines = bufio.NewScanner(e.output)
	for e.lines.Scan() {
		if match := serves.FindStringSubmatch(e.lines.Text()); match != nil {
			e.url = match[1]
			return e, nil
		}
	}
	err = e.wait()
	return nil, fmt.Errorf("%s did not start: %w\n%s", arguments[0], err, e.log)
}

// check waits for the check of the data with which the account began.
func (e *process) check() error {
	for e.lines.Scan() {
		if e.lines.Text() == checked {
			return nil
		}
	}
	return fmt.Errorf("the data is inconsistent: %w\n%s", e.wait(), e.log)
}

// kill sends SIGKILL: the process gets no chance to clean up, as after a power failure.
func (e *process) kill() error {
	if err := e.command.Process.Kill(); err != nil {
		return err
	}
	if err := e.wait(); err == nil {
		return fmt.Errorf("the account had already ended\n%s", e.log)
	}
	return nil
}

// end sends SIGTERM and waits. It returns an error if the process does not end with status 0.
func (e *process) end() error {
	if err := e.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := e.wait(); err != nil {
		return fmt.Errorf("the account ended with %w\n%s", err, e.log)
	}
	return nil
}

func (e *process) wait() error {
	err := e.command.Wait()
	return errors.Join(err, e.output.Close())
}
