package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// TestCheck checks a folder by itself and beside a server, and one in which something was lost.
func TestCheck(t *testing.T) {
	data := t.TempDir()
	copyFolder(t, seeded(t, "1"), data)
	says := func(code int, line string) {
		t.Helper()
		p := start(t, nil, "check", "--data", data)
		p.says(t, line)
		if got := p.wait(t, patience); got != code {
			t.Errorf("exit code %d: %s", got, p.stderr.String())
		}
		if code != 0 && !strings.Contains(p.stderr.String(), "has 2 faults") {
			t.Errorf("it says %s", p.stderr.String())
		}
	}
	says(0, `^all is well: [1-9]\d* items$`)
	server, _ := serving(t, nil, "--data", data)
	says(0, `^all is well: [1-9]\d* items$`)
	server.terminate(t)
	loseAChange(t, filepath.Join(data, "engine"))
	const lost = `has no entry of the kind 'f'`
	says(1, lost)
	server, _ = serving(t, nil, "--data", data)
	says(1, lost)
	server.terminate(t)
}

// loseAChange takes an item out of the change feed, behind the engine's back.
func loseAChange(t *testing.T, dir string) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("f"), UpperBound: []byte("g")})
	if err != nil || !changes.First() {
		t.Fatalf("no change: %v", err)
	}
	if err := db.Delete(changes.Key(), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := changes.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "seal.json")); err != nil {
		t.Fatal(err)
	}
}
