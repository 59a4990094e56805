package audit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

const (
	// compareInterval is the time between two reads of the checkpoints, and between the last of them
	// and the next comparison. It is long enough for every replica to have the earlier writes.
	compareInterval = time.Second

	// stallLimit is the maximum wait for a checkpoint that does not move although its feed has further
	// changes, or ends before it. In less time, a lease expires and another projector takes it over,
	// and projectors notice a checkpoint beyond the end of its feed, for which they wait one minute.
	stallLimit = 90 * time.Second

	// waitLimit is the maximum wait for projectors that make progress but do not catch up.
	waitLimit = time.Hour
)

// stall is the state of a feed whose projectors are behind.
type stall struct {
	checkpoints string        // of all leases of the feed range
	duration    time.Duration // how long the checkpoints have not moved
}

// waitForProjectors waits until the projectors have passed the current ends of the change feeds.
// It does not wait for a feed whose checkpoints stall.
func (a *auditRun) waitForProjectors(ctx context.Context) error {
	ends, err := cosmos.Retried(ctx, a.db, a.feeds.ReadEnds)
	for waited, waiting := time.Duration(0), true; waiting && err == nil; waited += compareInterval {
		if waited >= waitLimit {
			a.result.Stalled = true
			break
		}
		if err := a.pause(ctx); err != nil {
			return err
		}
		waiting, err = cosmos.Retried(ctx, a.db, func(ctx context.Context) (bool, error) { return a.mustWait(ctx, ends) })
	}
	if err != nil {
		return err
	}
	return a.pause(ctx)
}

// pause waits for compareInterval.
func (a *auditRun) pause(ctx context.Context) error { return a.db.Sleep(ctx, compareInterval) }

// mustWait reports whether the projectors of a feed have not passed its end yet, and either make
// progress or have not reached the stall limit.
func (a *auditRun) mustWait(ctx context.Context, ends changefeed.Ends) (wait bool, err error) {
	leases, err := a.feeds.Leases(ctx)
	if err != nil {
		return false, err
	}
	for f, end := range ends {
		passed, err := a.feeds.Passed(ctx, f, end, leases)
		if err != nil && !errors.Is(err, follow.ErrContainerReplaced) {
			return false, err
		}
		switch {
		case passed:
			delete(a.stalls, f)
		case a.stalledFor(f, leases) < stallLimit:
			wait = true
		default:
			a.result.Stalled = true
		}
	}
	return wait, nil
}

// stalledFor records the checkpoints of a feed that is behind after another interval, and
// returns how long they have not moved.
func (a *auditRun) stalledFor(f follow.Feed, leases []changefeed.Lease) time.Duration {
	var checkpoints []string
	for _, lease := range leases {
		if lease.Container == f.Container && lease.Range.Overlaps(f.FeedRange) {
			checkpoints = append(checkpoints, lease.ID+lease.Continuation)
		}
	}
	slices.Sort(checkpoints)
	s := stall{checkpoints: strings.Join(checkpoints, " ")}
	if before, ok := a.stalls[f]; ok && before.checkpoints == s.checkpoints {
		s.duration = before.duration + compareInterval
	}
	a.stalls[f] = s
	return s.duration
}
