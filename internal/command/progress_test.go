package command

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cosmosblog/store"
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

// TestProgressOfAResumedCopy reckons from what this run did, not from what an earlier one did before it began.
func TestProgressOfAResumedCopy(t *testing.T) {
	var told bytes.Buffer
	c := copyProgress{to: &told}
	c.tell(store.CopyProgress{Done: 900_000, Total: 1_000_000})
	now := c.bar.begun
	c.bar.now = func() time.Time { return now }
	for n := range int64(2) {
		now = now.Add(5 * time.Second)
		c.tell(store.CopyProgress{Done: 900_000 + 1000*(n+1), Total: 1_000_000})
	}
	const want = "1000 of 100000 changes, 200 a second, 8m15s left\n2000 of 100000 changes, 200 a second, 8m10s left\n"
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
