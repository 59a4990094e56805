// Command azcosmos runs the emulator tests of azcosmos against accounts of cosmostest, and lists
// every test as passed, failed, or skipped with a reason. It uses the version of azcosmos that
// this module requires.
//
//	go run ./proof/conformance/azcosmos [-run expression]
//
// It builds the tests, which are part of azcosmos's source. Each test runs against a new account at
// https://127.0.0.1:8081, because the tests share the names of their databases. Afterwards, the
// account checks its data. The tests contain the address, so no other process may listen there.
//
// It exits with 1 if a test fails, if a skipped test no longer exists, or if anything cannot be
// built or started.
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

// testTimeout is the time limit of a test. The slowest test itself waits for 10 seconds.
const testTimeout = time.Minute

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

// run builds the tests, runs them, and prints the table.
func run(ctx context.Context, only string) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
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
	if err := obsolete(skippedTests(), names); err != nil {
		return err
	}
	return s.table(ctx, names, wanted)
}
