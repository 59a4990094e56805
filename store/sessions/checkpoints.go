package sessions

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// source is the container whose changes a client waits for. Changes of users need no wait: the
// account's own name is corrected (Session.OwnUser), and deletions are checked for themselves.
const source = schema.Posts

// checkpoints are the positions of the projectors in the change feeds of source, as they were read.
// It may be used concurrently.
type checkpoints struct {
	feeds    *changefeed.Feeds
	interval time.Duration // of New
	reading  chan struct{} // a semaphore of one slot: one read at a time

	meter cosmos.Meter // of all reads

	mu    sync.Mutex // guards the fields below
	known []reading  // from early to late; the last one is the latest
	// late has, by the id of a range, the least position that the checkpoints had not passed after
	// MaxWait.
	late map[string]string
}

// reading is the result of a read of the leases. It is not changed.
type reading struct {
	begun  time.Time
	passed cosmos.Reached       // by the leases of source (changefeed.Lease.Position)
	asOf   map[string]time.Time // of the positions, by the id of their range (changefeed.Lease.AsOf)
	oldest time.Time            // the earliest of asOf; zero if one is unknown
	views  cosmos.SessionTokens // after the changes up to these positions
}

// addLease adds the position of a lease of source.
func (r *reading) addLease(lease changefeed.Lease) {
	r.passed.Add(lease.Position)
	asOf := lease.AsOf.Time()
	if len(r.asOf) == 0 || asOf.Before(r.oldest) {
		r.oldest = asOf
	}
	for part := range strings.SplitSeq(lease.Position, ",") {
		id, _, _ := strings.Cut(part, ":")
		if known, ok := r.asOf[id]; !ok || asOf.Before(known) {
			r.asOf[id] = asOf
		}
	}
	if of, err := cosmos.ParseSessionTokens(lease.Views); err == nil {
		r.views.Merge(of)
	}
}

// has reports whether the views contain a position of a range that was written at a time, as far as
// they ever will.
//
// If the database goes back to an earlier state, a checkpoint names a number of before, which is
// that of another change now. So a position counts only if it was read after the write. And a write
// that was not in the feed a minute later never will be: the database has lost it.
func (r reading) has(id, position string, written time.Time) bool {
	asOf, ok := r.asOf[id]
	if !ok {
		asOf = r.oldest
	}
	if !r.passed.Covers(id + ":" + position) {
		return asOf.Sub(written) > lostWriteAge
	}
	return written.Sub(asOf) <= maxPositionAge
}

const (
	// maxPositionAge is the age to which a checkpoint need not say that its position is still the end
	// of the feed: heartbeats tell it every five seconds, and the clocks of processes differ by up to
	// two. It is less than the time that a failover or a restore takes.
	maxPositionAge = 10 * time.Second

	// lostWriteAge is longer than an operation writes, and than a replica in the region that writes
	// lags.
	lostWriteAge = time.Minute

	// readingsApart is the least time between two readings that are kept, besides the latest. It is
	// about the time between two polls of a server's tail.
	readingsApart = 250 * time.Millisecond

	// maxReadings is the number of readings that are kept.
	maxReadings = 8
)

// read reads the checkpoints, unless a read has begun since a time, or less than the interval ago.
// If it fails, the former ones stay.
func (c *checkpoints) read(ctx context.Context, since time.Time) {
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return
	}
	begun := time.Now()
	if latest := c.latest(); !latest.Before(since) || begun.Sub(latest) < c.interval {
		return
	}
	metered, meter := cosmos.Metered(ctx)
	leases, err := c.feeds.Leases(metered)
	c.meter.Add(meter.Charged())
	if err != nil {
		return
	}
	r := reading{begun: begun, asOf: map[string]time.Time{}, views: cosmos.SessionTokens{}}
	for _, lease := range leases {
		if lease.Container == source {
			r.addLease(lease)
		}
	}
	c.add(r)
}

// latest returns the time at which the latest successful read began, or zero.
func (c *checkpoints) latest() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last().begun
}

// last returns the latest reading, or a zero one. c.mu must be held.
func (c *checkpoints) last() (r reading) {
	if n := len(c.known); n > 0 {
		r = c.known[n-1]
	}
	return r
}

// add adds the latest reading. It replaces the one before if that is too close to its predecessor.
func (c *checkpoints) add(r reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.known); n > 1 && c.known[n-1].begun.Sub(c.known[n-2].begun) < readingsApart {
		c.known = c.known[:n-1]
	}
	c.known = append(c.known, r)
	if len(c.known) > maxReadings {
		c.known = slices.Delete(c.known, 0, 1)
	}
}

// passed reports whether all changes up to some states are projected. It then returns the states of
// the views, which must not be changed: the earliest that suffice, because a server's cache has
// what was read in these states rather than in later ones.
func (c *checkpoints) passed(written Token) (views cosmos.SessionTokens, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.known {
		if r.hasAll(written) {
			return r.views, true
		}
	}
	return nil, len(written.Written[source]) == 0 // nothing to wait for
}

func (r reading) hasAll(written Token) bool {
	for id, position := range written.Written[source] {
		if !r.has(id, position, written.At[id]) {
			return false
		}
	}
	return true
}

// latestViews returns the latest known states of the views, which must not be changed.
func (c *checkpoints) latestViews() cosmos.SessionTokens {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last().views
}

// hasPassed reports whether all changes up to a position are projected, by the latest reading. c.mu
// must be held.
func (c *checkpoints) hasPassed(id, at string) bool {
	return c.last().passed.Covers(id + ":" + at)
}

// nameAll reports whether the latest checkpoints name the ranges of all positions, in the version
// of the position, except for the positions that this server has seen itself. No checkpoint ever
// passes a position of another range: somebody made it up, or it is of a database of before. In a
// new database, and after a split or a failover, the checkpoints name the ranges within seconds.
func (c *checkpoints) nameAll(positions, own cosmos.SessionToken) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, position := range positions {
		if !own.Covers(id+":"+position) && !c.last().passed.NamesVersion(id, position) {
			return false
		}
	}
	return true
}

// isLate reports whether projectors are known to need longer than MaxWait for some states: an
// earlier state of the same range has waited that long, and they have still not passed it.
func (c *checkpoints) isLate(written cosmos.SessionTokens) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range written[source] {
		if late := c.lateAt(id); late != "" && written[source].Covers(id+":"+late) {
			return true
		}
	}
	return false
}

// lateAt returns the position of a range that waited in vain and is still not passed, or "". c.mu
// must be held.
func (c *checkpoints) lateAt(id string) string {
	if len(c.known) == 0 {
		return ""
	}
	if at, ok := c.late[id]; ok && c.hasPassed(id, at) {
		delete(c.late, id)
	}
	return c.late[id]
}

// noteLate notes that the checkpoints have not passed some states after MaxWait.
func (c *checkpoints) noteLate(written cosmos.SessionTokens) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, at := range written[source] {
		if !c.hasPassed(id, at) && c.lateAt(id) == "" {
			c.late[id] = at
		}
	}
}
