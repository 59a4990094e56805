package engine

import "github.com/cockroachdb/pebble/v2"

// snapshot returns a snapshot of a container's items and indexes, with the definition that
// applies to it. It waits while the definition is being changed. Errors: 404; 449 if a change
// failed. The next Open completes a failed change.
func (e *Engine) snapshot(c *container) (*container, *pebble.Snapshot, error) {
	for {
		snapshot := e.db.NewSnapshot()
		if c.isCurrent() {
			return c, snapshot, nil
		}
		if err := snapshot.Close(); err != nil {
			return nil, nil, err
		}
		e.catalogMu.Lock() // held by a change of the definition
		now, err := e.container(c.databaseName, c.name)
		e.catalogMu.Unlock()
		switch {
		case err != nil || now.number != c.number:
			return nil, nil, errOwnerNotFound
		case now == c:
			return nil, nil, errRedefined
		}
		c = now
	}
}

// lockLogs blocks writes to the container until unlock is called. Ranges of the same split share
// a log.
func (c *container) lockLogs() (unlock func()) {
	locked := map[*log]bool{}
	for _, r := range c.ranges {
		if !locked[r.log] {
			locked[r.log] = true
			r.mu.Lock()
		}
	}
	return func() {
		for l := range locked {
			l.mu.Unlock()
		}
	}
}
