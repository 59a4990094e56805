package sessions

import (
	"context"
	"math"
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

// checkpoints are the positions of the projectors in the change feeds, as they were last read. It
// may be used concurrently.
type checkpoints struct {
	feeds   *changefeed.Feeds
	now     func() time.Time
	reading chan struct{} // a semaphore of one slot: one read at a time

	hundredths atomic.Int64 // of the RU of all reads

	mu     sync.Mutex           // guards the fields below
	readAt time.Time            // when the last successful read began
	feedAt []position           // of the leases of source
	views  cosmos.SessionTokens // after the changes up to the positions

	// late has, by the id of a range, a position that the checkpoints had not passed after MaxWait.
	late map[string]string
}

// position is the position of one lease (changefeed.Lease.Position).
type position struct{ cosmos.SessionToken }

// read reads the checkpoints, unless a read has begun since a time. If it fails, the former ones
// stay.
func (c *checkpoints) read(ctx context.Context, since time.Time) {
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return
	}
	c.mu.Lock()
	isKnown := !c.readAt.Before(since)
	c.mu.Unlock()
	if isKnown {
		return
	}
	begun := c.now()
	leases, err := c.feeds.Leases(cosmos.WithRecorder(ctx, c))
	if err != nil {
		return
	}
	views := cosmos.SessionTokens{}
	var feedAt []position // of the leases of source
	for _, lease := range leases {
		if lease.Container != source {
			continue
		}
		at := position{cosmos.SessionToken{}}
		at.Merge(lease.Position)
		feedAt = append(feedAt, at)
		if of, err := cosmos.ParseSessionTokens(lease.Views); err == nil {
			views.Merge(of)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readAt, c.feedAt, c.views = begun, feedAt, views
}

// passed reports whether all changes up to some states are projected. It then returns the states of
// the views, which must not be changed.
func (c *checkpoints) passed(written cosmos.SessionTokens) (views cosmos.SessionTokens, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, at := range written[source] {
		if !c.hasPassed(id, at) {
			return nil, false
		}
	}
	return c.views, true
}

// hasPassed reports whether all changes of a range up to a position are projected. If several
// leases name the range, it was split, and all of them must have passed. If none does, the range is
// gone. Its numbers go on in some of the leases; so it is enough if all leases have passed the
// number. c.mu must be held.
func (c *checkpoints) hasPassed(id, at string) bool {
	wanted := cosmos.SessionToken{id: at}
	known, least := false, int64(math.MaxInt64)
	for _, p := range c.feedAt {
		least = min(least, p.number())
		if _, ok := p.SessionToken[id]; ok {
			known = true
			if !p.Covers(wanted.String()) {
				return false
			}
		}
	}
	return known || len(c.feedAt) > 0 && least >= wanted.Number(id)
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
		late, ok := c.late[id]
		isEarlier := ok && written[source].Covers(id+":"+late)
		if isEarlier && !c.hasPassed(id, late) {
			return true
		}
	}
	return false
}

// noteLate notes that the checkpoints have not passed some states after MaxWait.
func (c *checkpoints) noteLate(written cosmos.SessionTokens) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, at := range written[source] {
		if !c.hasPassed(id, at) {
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
