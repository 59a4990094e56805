package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const address = "127.0.0.1:8081"

// portIsFree returns an error if the engine cannot listen on the address that the tests use.
func portIsFree() error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("the tests need the engine on %s, but it cannot listen there: %w", address, err)
	}
	return listener.Close()
}

// engine is a running process of the program.
type engine struct {
	command *exec.Cmd
	logged  *bytes.Buffer
	exited  chan error // receives once
}

// start runs an engine and waits until it serves.
func start(ctx context.Context, program, data string, entra bool) (*engine, error) {
	args := []string{"engine", "--tls", "--addr", address, "--data", data}
	if entra {
		args = append(args, "--entra")
	}
	e := &engine{command: exec.CommandContext(ctx, program, args...), logged: &bytes.Buffer{}, exited: make(chan error, 1)}
	e.command.Cancel = func() error { return e.command.Process.Signal(syscall.SIGTERM) }
	e.command.WaitDelay = 15 * time.Second
	e.command.Stderr = e.logged
	stdout, err := e.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.command.Start(); err != nil {
		return nil, err
	}
	serves := make(chan struct{})
	go func() {
		for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
			if strings.Contains(scanner.Text(), address) {
				close(serves)
			}
		}
		e.exited <- e.command.Wait()
	}()
	select {
	case <-serves:
		return e, nil
	case err := <-e.exited:
		return nil, fmt.Errorf("the engine ended before it was ready: %w\n%s", errors.Join(err, ctx.Err()), e.logged.Bytes())
	}
}

// stop ends the engine with SIGTERM. It returns an error if the engine failed.
func (e *engine) stop() error {
	if err := e.command.Cancel(); err != nil {
		return err
	}
	if err := <-e.exited; err != nil {
		return fmt.Errorf("the engine ended: %w\n%s", err, e.logged.Bytes())
	}
	return nil
}
