package readcache

import (
	"context"
	"time"
)

// flight is one read and the others that wait for its result.
//
// A read may join a flight only if the result contains every change that was acknowledged before.
// This holds for a flight that has not begun. It also holds for one that has begun, if the
// partition has not changed since. Otherwise the read starts another flight, which begins when the
// first one has ended. So there are at most two flights of one key, if the database answers soon.
//
// Some answers never come. Then the flight lasts until its request times out, and nobody else may
// depend on it: the next flight begins after maxWait. A read that joined a flight leaves it after
// twice as long, and joins or starts the next one. It then waits twice as long as before, because
// it would otherwise never wait long enough for a slow database.
type flight struct {
	previous *flight // that this one waits for, or nil
	begun    bool    // guarded by the cache's mu
	changes  uint64  // of the partition when the flight began; guarded by the cache's mu

	done      chan struct{} // closed when the following are set
	result    any
	err       error
	abandoned bool // the flight ended with its own request, and has no result for others
}

// maxWait is how long a flight waits for the one before. Reads usually take a few milliseconds.
const maxWait = 250 * time.Millisecond

// read returns the result of a key, and whether it was kept or another flight's.
func (c *Cache) read(ctx context.Context, key Key, read func() (any, int, error)) (any, bool, error) {
	var left *flight
	for patience := 2 * maxWait; ; patience *= 2 {
		kept, now := c.lookup(key, nil)
		if kept != nil {
			return kept, true, nil
		}
		f, leads := c.join(key, now, left)
		if leads {
			c.misses.Add(1)
			c.lead(ctx, key, f, read)
			return f.result, false, f.err
		}
		ended, err := f.wait(ctx, patience)
		switch {
		case err != nil:
			return nil, false, err
		case !ended:
			left = f
		case !f.abandoned:
			c.shared.Add(1)
			return f.result, true, f.err
		}
	}
}

// wait waits until a flight has ended, at most for a duration. Error: ctx's.
func (f *flight) wait(ctx context.Context, atMost time.Duration) (ended bool, err error) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-f.done:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// join returns a flight that the caller may wait for, or a new one that it leads. now is the number
// of changes when the caller began. The caller has left the flight left, if it is not nil, and does
// not wait for it again.
func (c *Cache) join(key Key, now uint64, left *flight) (f *flight, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f = c.flights[key]
	if f != nil && f != left && (!f.begun || c.changes != nil && f.changes == now) {
		return f, false
	}
	if f == left {
		f = nil
	}
	f = &flight{previous: f, done: make(chan struct{})}
	c.flights[key] = f
	return f, true
}

// begin marks a flight as begun, and notes the changes of the partition. A read that joined before
// saw no later ones.
func (c *Cache) begin(key Key, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.begun = true
	if c.changes != nil {
		f.changes = c.changes(key.Container, key.Partition)
	}
}

// lead carries out a flight. If ctx ends first, or read panics, the flight is abandoned.
func (c *Cache) lead(ctx context.Context, key Key, f *flight, read func() (any, int, error)) {
	f.abandoned = true
	defer func() {
		c.mu.Lock()
		if c.flights[key] == f {
			delete(c.flights, key)
		}
		c.mu.Unlock()
		close(f.done)
	}()
	if f.previous != nil {
		if _, f.err = f.previous.wait(ctx, maxWait); f.err != nil {
			return
		}
		f.previous = nil
	}
	c.begin(key, f)
	var bytes int
	f.result, bytes, f.err = read()
	f.abandoned = f.err != nil && ctx.Err() != nil
	if f.err == nil {
		c.keep(key, value{f.result, int64(bytes), f.changes})
	}
}
