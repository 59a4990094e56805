package readcache

import "context"

// flight is one read and the others that wait for its result.
//
// A read may join a flight only if the result contains every change that was acknowledged before.
// This holds for a flight that has not begun. It also holds for one that has begun, if the
// partition has not changed since. Otherwise the read starts another flight, which begins when the
// first one has ended. So there are at most two flights of one key.
type flight struct {
	previous *flight // that this one waits for, or nil
	begun    bool    // guarded by the cache's mu
	changes  uint64  // of the partition when the flight began; guarded by the cache's mu

	done      chan struct{} // closed when the following are set
	result    any
	err       error
	abandoned bool // the flight ended with its own request, and has no result for others
}

// read returns the result of a key, and whether it was kept or another flight's.
func (c *Cache) read(ctx context.Context, key Key, read func() (any, int, error)) (any, bool, error) {
	for {
		kept, now := c.lookup(key)
		if kept != nil {
			return kept, true, nil
		}
		f, leads := c.join(key, now)
		if leads {
			c.misses.Add(1)
			c.lead(ctx, key, f, read)
			return f.result, false, f.err
		}
		select {
		case <-f.done:
			if !f.abandoned {
				c.shared.Add(1)
				return f.result, true, f.err
			}
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// join returns a flight that the caller may wait for, or a new one that it leads. now is the number
// of changes when the caller began.
func (c *Cache) join(key Key, now uint64) (f *flight, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f = c.flights[key]
	if f != nil && (!f.begun || c.changes != nil && f.changes == now) {
		return f, false
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
		select {
		case <-f.previous.done:
			f.previous = nil
		case <-ctx.Done():
			f.err = ctx.Err()
			return
		}
	}
	c.begin(key, f)
	var bytes int
	f.result, bytes, f.err = read()
	f.abandoned = f.err != nil && ctx.Err() != nil
	if f.err == nil {
		c.keep(key, value{f.result, int64(bytes), f.changes})
	}
}
