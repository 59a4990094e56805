package command

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestProgressInLines holds what is told where nobody looks at a terminal: a line every few seconds.
func TestProgressInLines(t *testing.T) {
	var told bytes.Buffer
	p := newProgress(&told, "items", 1000)
	now := p.begun
	p.now = func() time.Time { return now }
	for range 6 {
		now = now.Add(2 * time.Second)
		p.add(100)
	}
	p.end()
	const want = "300 of 1000 items, 50 a second, 14s left\n600 of 1000 items, 50 a second, 8s left\n"
	if told.String() != want {
		t.Errorf("told %q, not %q", told.String(), want)
	}
}

// TestProgressCountsAll adds from several goroutines, and more than was said.
func TestProgressCountsAll(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, "items", 10)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { p.add(2) })
	}
	all.Wait()
	if p.done != 100 {
		t.Errorf("%d are done", p.done)
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) || isTerminal(&bytes.Buffer{}) {
		t.Error("a file is taken for a terminal")
	}
}
