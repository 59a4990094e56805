package resolvers

import (
	"context"
	"sync"

	"cosmosblog/internal/blog"
)

// loader reads things of one kind by id, each at most once, and the things that will be asked for next together with
// the first. Its zero value is ready. It may be used concurrently.
type loader[V any] struct {
	mu      sync.Mutex
	entries map[string]*entry[V]
}

// entry is one thing, being read or read.
type entry[V any] struct {
	done  chan struct{} // closed when the rest is there
	value V
	found bool
	err   error
}

// fetch reads several things at once. What is not there is absent from the map.
type fetch[V any] func(ctx context.Context, ids []string) (map[string]V, error)

// load gives the thing with the id, and whether it is there. Where it was never asked for, it is fetched together with
// its siblings: the things that the other elements of the same list are about to ask for. GraphQL asks for the same
// fields on all elements of a list, so siblings need not be waited for to be known.
func (l *loader[V]) load(ctx context.Context, id string, siblings []string, f fetch[V]) (value V, found bool, err error) {
	wanted, ids, claimed := l.claim(id, siblings)
	if len(claimed) > 0 {
		run(ctx, ids, claimed, f)
	}
	select {
	case <-wanted.done:
		return wanted.value, wanted.found, wanted.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// put keeps what is known without a fetch.
func (l *loader[V]) put(id string, value V) {
	e := &entry[V]{done: make(chan struct{}), value: value, found: true}
	close(e.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries == nil {
		l.entries = make(map[string]*entry[V], 1)
	}
	l.entries[id] = e
}

// claim gives the entry of the id and, where it is new, the new entries that the caller must now fetch.
func (l *loader[V]) claim(id string, siblings []string) (wanted *entry[V], ids []string, claimed []*entry[V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[id]; ok {
		return e, nil, nil
	}
	if l.entries == nil {
		l.entries = make(map[string]*entry[V], len(siblings)+1)
	}
	add := func(id string) {
		if _, ok := l.entries[id]; !ok {
			e := &entry[V]{done: make(chan struct{})}
			l.entries[id] = e
			ids, claimed = append(ids, id), append(claimed, e)
		}
	}
	add(id)
	for _, sibling := range siblings {
		add(sibling)
	}
	return claimed[0], ids, claimed
}

// run fetches the ids into their entries. Those who wait get an answer even if the fetch panics.
func run[V any](ctx context.Context, ids []string, entries []*entry[V], f fetch[V]) {
	var values map[string]V
	err := error(errUnfinished)
	defer func() {
		for i, e := range entries {
			e.value, e.found = values[ids[i]]
			e.err = err
			close(e.done)
		}
	}()
	values, err = f(ctx, ids)
}

var errUnfinished = blog.Errorf(blog.Internal, "A read for several fields did not end.")
