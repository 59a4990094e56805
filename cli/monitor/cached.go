package monitor

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"
)

// cached is a value that is looked up on demand, but at most once in cachedAge. A lookup sends
// requests to the database, and any client can cause one. get may be called concurrently.
type cached[T any] struct {
	life context.Context // of lookups, which continue after their caller has returned
	look func(context.Context) (T, error)
	now  func() time.Time
	age  time.Duration // how long a value without an error is kept

	calls singleflight.Group // of current, which alone uses the fields below
	value T
	err   error
	until time.Time // when the next lookup may begin; zero before the first
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
	select {
	case ended := <-c.calls.DoChan("", c.current):
		value, _ = ended.Val.(T)
		return value, ended.Err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// current returns the last value if it is young, and otherwise looks it up. One call runs at a
// time.
func (c *cached[T]) current() (any, error) {
	if c.now().Before(c.until) {
		return c.value, c.err
	}
	ctx, cancel := context.WithTimeout(c.life, lookupTimeout)
	defer cancel()
	age := cachedAge
	if c.value, c.err = c.look(ctx); c.err == nil {
		age = c.age
	}
	c.until = c.now().Add(age)
	return c.value, c.err
}
