package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/store/follow"
)

// Without a terminal, progress is a line every few seconds.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed bytes.Buffer
		p := newProgress(&printed, "items", 1000)
		for range 6 {
			time.Sleep(2 * time.Second)
			p.add(100)
		}
		p.end()
		const want = "300 of 1000 items, 50 a second, 14s left\n600 of 1000 items, 50 a second, 8s left\n"
		if printed.String() != want {
			t.Errorf("printed %q, want %q", printed.String(), want)
		}
	})
}

// The rate and the time left follow from what this run copied.
func TestProgressOfAResumedCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed bytes.Buffer
		c := feedBar{to: &printed}
		c.update(900_000, 1_000_000)
		for n := range 2 {
			time.Sleep(5 * time.Second)
			c.update(900_000+1000*(n+1), 1_000_000)
		}
		const want = "1000 of 100000 changes, 200 a second, 8m15s left\n2000 of 100000 changes, 200 a second, 8m10s left\n"
		if printed.String() != want {
			t.Errorf("printed %q, want %q", printed.String(), want)
		}
	})
}

// The total of a copy may grow.
func TestProgressWithAGrowingTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed bytes.Buffer
		p := newProgress(&printed, "changes", 100)
		p.set(10, 100)
		time.Sleep(10 * time.Second)
		p.set(50, 150)
		if want := "50 of 150 changes, 5 a second, 20s left\n"; printed.String() != want {
			t.Errorf("printed %q, want %q", printed.String(), want)
		}
	})
}

// Several goroutines may call add, and the sum may exceed the total.
func TestProgressIsConcurrent(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, "items", 10)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() { p.add(2) })
	}
	group.Wait()
	if p.done != 100 {
		t.Errorf("%d are done", p.done)
	}
}

func TestFileIsNotATerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) || isTerminal(&bytes.Buffer{}) {
		t.Error("a file was treated as a terminal")
	}
}

// A command that reads items by query and then change feeds has a bar for each.
func TestProgressWithoutATotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed bytes.Buffer
		b := feedBar{to: &printed}
		b.update(0, 0)
		time.Sleep(5 * time.Second)
		b.update(1000, 0)
		b.update(20, 120)
		time.Sleep(5 * time.Second)
		b.update(70, 120)
		b.end()
		if want := "1000 items, 200 a second\n50 of 100 changes, 10 a second, 5s left\n"; printed.String() != want {
			t.Errorf("printed %q, want %q", printed.String(), want)
		}

		printed.Reset()
		audited := auditBar{to: &printed}
		audited.update(follow.Progress{})
		if audited.bar != nil {
			t.Error("an audit without items has a bar")
		}
		audited.update(follow.Progress{Done: 1})
		time.Sleep(10 * time.Second)
		audited.update(follow.Progress{Done: 31})
		if want := "31 items, 3 a second\n"; printed.String() != want {
			t.Errorf("printed %q, want %q", printed.String(), want)
		}
	})
}
