// Command azcosmos runs the emulator tests of azcosmos, at the version that this module requires, against the program's
// own engine, and names every one of them: passed, failed, or left out and why.
//
//	go run ./internal/conformance/azcosmos [-run expression]
//
// It builds the program and the tests (azcosmos ships them with its source), and gives each test a fresh process of
// `engine --tls --addr 127.0.0.1:8081` on an empty data folder, because the tests share the names of their databases; the
// command `check` then looks over what is left there. The address is written into the tests, so nothing else may listen
// there. It exits with 1 where a test fails that is not left out, where a test that is left out does not exist any more,
// and where anything cannot be built or started.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// patience is how long one test may take. The slowest waits for 10 seconds by itself.
const patience = time.Minute

func main() {
	only := flag.String("run", "", "run only the tests whose names match this `expression`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run builds what is needed, runs the tests and prints the table.
func run(ctx context.Context, only string) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := portIsFree(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := build(ctx, dir)
	if err != nil {
		return err
	}
	names, err := s.names(ctx)
	if err != nil {
		return err
	}
	if err := stale(leftOut(), names); err != nil {
		return err
	}
	return s.table(ctx, names, wanted)
}
