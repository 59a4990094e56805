package main

import (
	"io"
	"strings"
	"testing"
)

// TestKill kills an engine a few times.
func TestKill(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"kill", "--times", "3", "--writes", "1500"}, &out); err != nil {
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
