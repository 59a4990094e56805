package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cosmosblog/internal/command"
)

// programName is the name of the program under test. It is a link to the test binary, which runs
// the program's commands under this name: a separate build would take seconds.
const programName = "cosmosblog"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != programName {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	environment := command.Environment{Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv}
	root := command.New(environment, nil) // the tests do not serve the API
	root.SetArgs(os.Args[1:])
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cosmosblog:", err)
		os.Exit(1)
	}
}

// TestKill kills an engine a few times.
func TestKill(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), programName)
	if err := os.Symlink(binary, program); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	arguments := []string{"kill", "--times", "3", "--writers", "32", "--writes", "500", "--program", program}
	if err := run(t.Context(), arguments, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}

func TestHelpReturnsNoError(t *testing.T) {
	for name := range scenarios {
		if err := run(t.Context(), []string{name, "--help"}, io.Discard); err != nil {
			t.Errorf("%s --help: %v", name, err)
		}
	}
}
