package monitor

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// cached is a value that is looked up on demand, but at most once in cachedAge. A lookup sends
// requests to the database, and any client can cause one. get may be called concurrently.
type cached[T any] struct {
	life context.Context // of lookups, which continue after their caller has returned
	look func(context.Context) (T, error)
	now  func() time.Time
	age  time.Duration // how long a value without an error is kept; cachedAge if 0

	mu   sync.Mutex // guards last
	last *lookup[T]
}

// lookup is in flight until done is closed.
type lookup[T any] struct {
	done  chan struct{}
	at    time.Time
	value T
	err   error
}

const (
	cachedAge     = time.Second     // how long a value is kept
	lookupTimeout = 4 * time.Second // how long callers wait
)

// get returns the value. It returns an error if the lookup failed, took too long, or ctx ended.
// The value may be usable even if there is an error.
func (c *cached[T]) get(ctx context.Context) (value T, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	current := c.current()
	select {
	case <-current.done:
		return current.value, current.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// current returns the last lookup if it is in flight or young, and otherwise starts one.
func (c *cached[T]) current() *lookup[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && !c.last.isOlder(c.now(), cmp.Or(c.age, cachedAge)) {
		return c.last
	}
	current := &lookup[T]{done: make(chan struct{})}
	c.last = current
	go func() {
		defer close(current.done)
		ctx, cancel := context.WithTimeout(c.life, lookupTimeout)
		defer cancel()
		current.value, current.err = c.look(ctx)
		current.at = c.now()
	}()
	return current
}

// isOlder reports whether the lookup ended at least age ago. For one that failed, age is cachedAge.
func (l *lookup[T]) isOlder(now time.Time, age time.Duration) bool {
	select {
	case <-l.done:
		if l.err != nil {
			age = cachedAge
		}
		return !l.at.After(now.Add(-age))
	default:
		return false
	}
}
