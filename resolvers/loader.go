package resolvers

import (
	"context"
	"sync"

	"cosmosblog/blog"
)

// loader reads values by id, each at most once. It batches the reads of siblings: the values that
// the other elements of the same list are about to request. GraphQL resolves the same fields on
// all elements of a list, so the siblings are known without waiting for them. The zero value is
// ready to use. It may be used concurrently.
type loader[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]*entry[V]
}

// entry is the result of one read, which may be in progress.
type entry[V any] struct {
	// done is closed when the other fields are set. Entries that are fetched together share it:
	// whoever continues with one of them finds all of them loaded.
	done  chan struct{}
	value V
	found bool
	err   error
}

// fetch reads several values. The map omits ids that do not exist.
type fetch[K comparable, V any] func(ctx context.Context, ids []K) (map[K]V, error)

// load returns the value of an id and whether it exists. On the first request for the id, load
// fetches it together with its siblings; siblings may be nil. Errors: those of the fetch and of
// ctx.
func (l *loader[K, V]) load(ctx context.Context, id K, siblings func() []K, f fetch[K, V]) (value V, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return value, false, err
	}
	e, ok := l.lookup(id)
	if !ok {
		var siblingIDs []K
		if siblings != nil {
			siblingIDs = siblings()
		}
		var ids []K
		var added []*entry[V]
		if e, ids, added = l.add(id, siblingIDs); len(added) > 0 {
			fetchInto(ctx, ids, added, f)
		}
	}
	select {
	case <-e.done:
		return e.value, e.found, e.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// lookup returns the entry of an id and whether there is one.
func (l *loader[K, V]) lookup(id K) (*entry[V], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[id]
	return e, ok
}

// loaded returns the value of an id if it has been fetched.
func (l *loader[K, V]) loaded(id K) (value V, ok bool) {
	e, ok := l.lookup(id)
	if !ok {
		return value, false
	}
	select {
	case <-e.done:
		return e.value, e.found
	default:
		return value, false
	}
}

// put stores a value that needs no fetch.
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

// add returns the entry of an id. If it is new, add also returns all new entries with their ids,
// and the caller must fetch them.
func (l *loader[K, V]) add(id K, siblings []K) (e *entry[V], ids []K, added []*entry[V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[id]; ok {
		return e, nil, nil
	}
	if l.entries == nil {
		l.entries = make(map[K]*entry[V], len(siblings)+1)
	}
	done := make(chan struct{})
	addOne := func(id K) {
		if _, ok := l.entries[id]; !ok {
			e := &entry[V]{done: done}
			l.entries[id] = e
			ids, added = append(ids, id), append(added, e)
		}
	}
	addOne(id)
	for _, sibling := range siblings {
		addOne(sibling)
	}
	return added[0], ids, added
}

// fetchInto fetches the values of entries. It completes the entries even if the fetch panics.
func fetchInto[K comparable, V any](ctx context.Context, ids []K, entries []*entry[V], f fetch[K, V]) {
	var values map[K]V
	err := error(errFetchPanicked)
	defer func() {
		for i, e := range entries {
			e.value, e.found = values[ids[i]]
			e.err = err
		}
		close(entries[0].done)
	}()
	values, err = f(ctx, ids)
}

var errFetchPanicked = blog.Errorf(blog.Internal, "A read for several fields did not complete.")
