package sessions

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
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
	now      func() time.Time
	interval time.Duration // Options.ReadInterval
	reading  chan struct{} // a semaphore of one slot: one read at a time

	hundredths atomic.Int64 // of the RU of all reads

	mu    sync.Mutex // guards the fields below
	known []reading  // from early to late; the last one is the latest
	// late has, by the id of a range, the least position that the checkpoints had not passed after
	// MaxWait.
	late map[string]string
}

// reading is the result of a read of the leases. It is not changed.
type reading struct {
	begun  time.Time
	feedAt []position           // of the leases of source
	views  cosmos.SessionTokens // after the changes up to the positions
}

// position is the position of one lease (changefeed.Lease.Position).
type position struct{ cosmos.SessionToken }

const (
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
	begun := c.now()
	if latest := c.latest(); !latest.Before(since) || begun.Sub(latest) < c.interval {
		return
	}
	leases, err := c.feeds.Leases(cosmos.WithRecorder(ctx, c))
	if err != nil {
		return
	}
	r := reading{begun: begun, views: cosmos.SessionTokens{}}
	for _, lease := range leases {
		if lease.Container != source {
			continue
		}
		at := position{cosmos.SessionToken{}}
		at.Merge(lease.Position)
		r.feedAt = append(r.feedAt, at)
		if of, err := cosmos.ParseSessionTokens(lease.Views); err == nil {
			r.views.Merge(of)
		}
	}
	c.add(r)
}

// latest returns the time at which the latest successful read began, or zero.
func (c *checkpoints) latest() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.known); n > 0 {
		return c.known[n-1].begun
	}
	return time.Time{}
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
func (c *checkpoints) passed(written cosmos.SessionTokens) (views cosmos.SessionTokens, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.known {
		if r.hasPassed(written[source]) {
			return r.views, true
		}
	}
	return nil, len(written[source]) == 0 // nothing to wait for
}

// latestViews returns the latest known states of the views, which must not be changed.
func (c *checkpoints) latestViews() cosmos.SessionTokens {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.known); n > 0 {
		return c.known[n-1].views
	}
	return nil
}

// hasPassed reports whether all changes up to a state are projected. If several leases name a
// range, it was split, and all of them must have passed. If none does, the range is gone. Its
// numbers go on in some of the leases; so it is enough if all leases have passed the number.
func (r reading) hasPassed(state cosmos.SessionToken) bool {
	for id, at := range state {
		wanted := cosmos.SessionToken{id: at}
		known, least := false, int64(math.MaxInt64)
		for _, p := range r.feedAt {
			least = min(least, p.number())
			if _, ok := p.SessionToken[id]; ok {
				known = true
				if !p.Covers(wanted.String()) {
					return false
				}
			}
		}
		if !known && (len(r.feedAt) == 0 || least < wanted.Number(id)) {
			return false
		}
	}
	return true
}

// number returns the log sequence number of a position, which all of its ranges have, or -1.
func (p position) number() int64 {
	for id := range p.SessionToken {
		return p.Number(id)
	}
	return -1
}

// isLate reports whether projectors are known to need longer than MaxWait for some states: an
// earlier state of the same range has waited that long, and they have still not passed it.
func (c *checkpoints) isLate(written cosmos.SessionTokens) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range written[source] {
		if late := c.lateAt(id); late != nil && written[source].Covers(late.String()) {
			return true
		}
	}
	return false
}

// lateAt returns the position of a range that waited in vain and is still not passed, or nil. c.mu
// must be held.
func (c *checkpoints) lateAt(id string) cosmos.SessionToken {
	at, ok := c.late[id]
	if !ok || len(c.known) == 0 {
		return nil
	}
	late := cosmos.SessionToken{id: at}
	if c.known[len(c.known)-1].hasPassed(late) {
		delete(c.late, id)
		return nil
	}
	return late
}

// noteLate notes that the checkpoints have not passed some states after MaxWait.
func (c *checkpoints) noteLate(written cosmos.SessionTokens) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, at := range written[source] {
		isPassed := len(c.known) > 0 && c.known[len(c.known)-1].hasPassed(cosmos.SessionToken{id: at})
		if !isPassed && c.lateAt(id) == nil {
			c.late[id] = at
		}
	}
}

// charge returns the charge of all reads in RU.
func (c *checkpoints) charge() float64 { return float64(c.hundredths.Load()) / 100 }

// Record adds the charge of a read (cosmos.Recorder).
func (c *checkpoints) Record(_ context.Context, request cosmos.Request) {
	c.hundredths.Add(int64(math.Round(100 * request.Charge)))
}
