//go:build ci

package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestMain is main in the processes that TestKill starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "account" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestKill kills an account a few times.
func TestKill(t *testing.T) {
	var out strings.Builder
	arguments := []string{"kill", "--times", "3", "--writers", "32", "--writes", "500"}
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
