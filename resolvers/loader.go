package resolvers

import (
	"context"
	"sync"

	"cosmosblog/internal/blog"
)

// loader reads things of one kind by id, each at most once, and the things that will be asked for next together with
// the first. Its zero value is ready. It may be used concurrently.
type loader[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]*entry[V]
}

// entry is one thing, being read or read.
type entry[V any] struct {
	done  chan struct{} // closed when the rest is there
	value V
	found bool
	err   error
}

// fetch reads several things at once. What is not there is absent from the map.
type fetch[K comparable, V any] func(ctx context.Context, ids []K) (map[K]V, error)

// load gives the thing with the id, and whether it is there. Where it was never asked for, it is fetched together with
// its siblings, nil where it has none: the things that the other elements of the same list are about to ask for. GraphQL
// asks for the same fields on all elements of a list, so siblings need not be waited for to be known.
func (l *loader[K, V]) load(ctx context.Context, id K, siblings func() []K, f fetch[K, V]) (value V, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return value, false, err
	}
	wanted, ok := l.known(id)
	if !ok {
		var besides []K
		if siblings != nil {
			besides = siblings()
		}
		var ids []K
		var claimed []*entry[V]
		if wanted, ids, claimed = l.claim(id, besides); len(claimed) > 0 {
			run(ctx, ids, claimed, f)
		}
	}
	select {
	case <-wanted.done:
		return wanted.value, wanted.found, wanted.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// known gives the entry of an id that was asked for before.
func (l *loader[K, V]) known(id K) (*entry[V], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[id]
	return e, ok
}

// put keeps what is known without a fetch.
func (l *loader[K, V]) put(id K, value V) {
	e := &entry[V]{done: make(chan struct{}), value: value, found: true}
	close(e.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries == nil {
		l.entries = make(map[K]*entry[V], 1)
	}
	l.entries[id] = e
}

// claim gives the entry of the id and, where it is new, the new entries that the caller must now fetch.
func (l *loader[K, V]) claim(id K, siblings []K) (wanted *entry[V], ids []K, claimed []*entry[V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[id]; ok {
		return e, nil, nil
	}
	if l.entries == nil {
		l.entries = make(map[K]*entry[V], len(siblings)+1)
	}
	add := func(id K) {
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
func run[K comparable, V any](ctx context.Context, ids []K, entries []*entry[V], f fetch[K, V]) {
	var values map[K]V
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
