//go:build ci

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script returns a program that is a shell script.
func script(t *testing.T, text string) program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cosmosblog")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program{path}
}

// TestSeedMustFinish requires that data of an interrupted or failed seed is not used.
func TestSeedMustFinish(t *testing.T) {
	data := t.TempDir()
	if err := script(t, "exit 0").seed(t.Context(), data, 5); err == nil {
		t.Error("an interrupted seed returns no error")
	}
	if err := script(t, "echo full disk >&2; exit 1").seed(t.Context(), data, 5); err == nil || !strings.Contains(err.Error(), "full disk") {
		t.Errorf("a failed seed returns the error %v", err)
	}
	if err := script(t, "echo 5 users with 7 posts, 9 items in all, are in $5").seed(t.Context(), data, 5); err != nil {
		t.Error(err)
	}
	if err := script(t, "exit 1").seed(t.Context(), data, 5); err != nil {
		t.Errorf("a finished data set is seeded again: %v", err)
	}
}

// TestServerThatDoesNotStart requires the reason in the error.
func TestServerThatDoesNotStart(t *testing.T) {
	p := script(t, "echo the folder is in use >&2; exit 1")
	_, err := p.serve(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "log"))
	if err == nil || !strings.Contains(err.Error(), "the folder is in use") {
		t.Errorf("got the error %v", err)
	}
}

func TestHasCache(t *testing.T) {
	for help, want := range map[string]bool{"--cache-bytes int  Size": true, "--cost-limit int": false} {
		if got, err := script(t, "echo '"+help+"'").hasCache(t.Context()); err != nil || got != want {
			t.Errorf("%s: got %t, %v", help, got, err)
		}
	}
}

func TestCopyFolderKeepsModes(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if err := os.Mkdir(filepath.Join(from, "engine"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"engine-key": 0o600, "engine/table": 0o644} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyFolder(from, to); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"engine-key": 0o600, "engine/table": 0o644} {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
