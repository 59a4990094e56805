package resolvers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// calls records the ids of each fetch.
type calls struct {
	mu  sync.Mutex
	ids [][]string
}

func (c *calls) fetch(_ context.Context, ids []string) (map[string]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, ids)
	values := map[string]string{}
	for _, id := range ids {
		if id != "gone" {
			values[id] = "value of " + id
		}
	}
	return values, nil
}

func TestLoaderFetchesSiblingsOnce(t *testing.T) {
	var l loader[string, string]
	var c calls
	siblings := []string{"a", "b", "c", "b", "gone"}
	var wg sync.WaitGroup
	for _, id := range siblings {
		wg.Go(func() {
			value, found, err := l.load(t.Context(), id, func() []string { return siblings }, c.fetch)
			if err != nil || found != (id != "gone") || found && value != "value of "+id {
				t.Errorf("%s: %q, %v, %v", id, value, found, err)
			}
		})
	}
	wg.Wait()
	if len(c.ids) != 1 || len(c.ids[0]) != 4 {
		t.Fatalf("fetched %v, want one fetch of four ids", c.ids)
	}
	if _, _, err := l.load(t.Context(), "d", func() []string { return []string{"a", "e"} }, c.fetch); err != nil || !slices.Equal(c.ids[1], []string{"d", "e"}) {
		t.Errorf("then fetched %v, want only d and e", c.ids[1:])
	}
}

// Whoever continues with one value of a fetch finds all of them loaded.
func TestLoaderLoadsSiblingsTogether(t *testing.T) {
	for range 5 {
		var l loader[string, string]
		var c calls
		siblings := make([]string, 500)
		for i := range siblings {
			siblings[i] = fmt.Sprint(i)
		}
		var wg sync.WaitGroup
		for _, id := range siblings {
			wg.Go(func() {
				if _, _, err := l.load(t.Context(), id, func() []string { return siblings }, c.fetch); err != nil {
					t.Error(err)
				}
				for _, sibling := range siblings {
					if _, ok := l.loaded(sibling); !ok {
						t.Errorf("%s is loaded, and %s is not", id, sibling)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestLoaderReturnsErrorToAllSiblings(t *testing.T) {
	var l loader[string, string]
	broken := errors.New("broken")
	fail := func(context.Context, []string) (map[string]string, error) { return nil, broken }
	for _, id := range []string{"a", "b"} {
		if _, found, err := l.load(t.Context(), id, func() []string { return []string{"a", "b"} }, fail); !errors.Is(err, broken) || found {
			t.Errorf("%s: %v, %v", id, found, err)
		}
	}
}

func TestLoaderCompletesAfterPanic(t *testing.T) {
	var l loader[string, string]
	func() {
		defer func() { _ = recover() }()
		_, _, _ = l.load(t.Context(), "a", func() []string { return []string{"b"} }, func(context.Context, []string) (map[string]string, error) { panic("x") })
	}()
	if _, _, err := l.load(t.Context(), "b", nil, nil); !errors.Is(err, errFetchPanicked) {
		t.Errorf("a sibling of the panicking fetch got %v", err)
	}
}

func TestLoaderStopsWaitingWithContext(t *testing.T) {
	var l loader[string, string]
	entered, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _, _ = l.load(t.Context(), "a", nil, func(context.Context, []string) (map[string]string, error) {
			close(entered)
			<-leave
			return nil, nil
		})
	})
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.load(ctx, "a", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(leave)
	wg.Wait()
}

func BenchmarkLoader(b *testing.B) {
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	var c calls
	for b.Loop() {
		var l loader[string, string]
		for _, id := range ids {
			_, _, _ = l.load(b.Context(), id, func() []string { return ids }, c.fetch)
		}
		c.ids = c.ids[:0]
	}
}
