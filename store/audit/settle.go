package audit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// doubt is a subject in which something differed when it was looked at last.
type doubt struct {
	subject
	seen map[place]string // what differs, and the state of its source then
	told map[place]bool   // what was found to drift
}

func newDoubt(s subject, drifts []Drift) doubt {
	d := doubt{s, nil, map[place]bool{}}
	d.see(drifts)
	return d
}

// see takes in another look, and gives what now is sure to drift: it differs again, and its source is as it was.
func (d *doubt) see(drifts []Drift) (sure []Drift) {
	before := d.seen
	d.seen = map[place]string{}
	for _, drift := range drifts {
		at := drift.place()
		switch source, ok := before[at]; {
		case d.told[at]:
		case ok && drift.source != "" && drift.source == source:
			d.told[at] = true
			sure = append(sure, drift)
		default:
			d.seen[at] = drift.source
		}
	}
	return sure
}

const (
	// maxLooks is how often a subject is looked at again whose sources change from one look to the next.
	maxLooks = 5

	// lookInterval is the time between two looks at the checkpoints, and from there to the views: every replica has what was
	// written that long ago.
	lookInterval = time.Second

	// projectorPatience is how long the checkpoints may stand still, while they have something before them, until nobody
	// waits for them any more: longer than a lease takes to expire and be taken over.
	projectorPatience = 45 * time.Second

	// longestWait is how long projectors are waited for that move, and do not come to the end.
	longestWait = time.Hour
)

// settle looks at the doubtful subjects again until nothing is in doubt any more. Posts come before the users whose copies
// they have, as in the first look: what is mended of the ones is not told of the others.
func (a *auditRun) settle(ctx context.Context) error {
	doubts := a.doubtful
	a.doubtful = nil
	for look := 0; look < maxLooks && len(doubts) > 0; look++ {
		if err := a.letPass(ctx); err != nil {
			return err
		}
		for _, container := range append(slices.Clone(auditedContainers), schema.Feed) {
			if err := a.lookAgain(ctx, container, doubts); err != nil {
				return err
			}
		}
		doubts = slices.DeleteFunc(doubts, func(d doubt) bool { return len(d.seen) == 0 })
	}
	a.result.Unstable += int64(len(doubts))
	return nil
}

// lookAgain takes a fresh look at the doubts of one container, and tells what is sure by now.
func (a *auditRun) lookAgain(ctx context.Context, container string, doubts []doubt) error {
	return a.each(ctx, len(doubts), func(ctx context.Context, i int) error {
		d := &doubts[i]
		if d.container != container {
			return nil
		}
		drifts, err := a.look(ctx, look{database: a.database}, d.subject)
		if err != nil {
			return err
		}
		sure := d.see(drifts)
		if len(sure) == 0 {
			return nil
		}
		left := sure
		if a.options.Repair {
			if left, err = a.mend(ctx, d.subject, sure); err != nil {
				return err
			}
		}
		a.tellDrifts(sure, left)
		return nil
	})
}

func (a *auditRun) mend(ctx context.Context, s subject, drifts []Drift) (left []Drift, err error) {
	err = a.db.RetryTransient(ctx, func() (err error) {
		left, err = Repair(ctx, a.db, s.container, s.partition, drifts)
		return err
	})
	return left, err
}

// tellDrifts tells of drifts, of which those that are left were not mended.
func (a *auditRun) tellDrifts(drifts, left []Drift) {
	unmended := make(map[place]bool, len(left))
	for _, drift := range left {
		unmended[drift.place()] = true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, drift := range drifts {
		mended := !unmended[drift.place()]
		a.result.Drifts++
		if mended {
			a.result.Corrected++
		}
		if a.options.Found != nil {
			a.options.Found(drift, mended)
		}
	}
}

// standing is where the checkpoints of a feed are that is behind, and for how long they were waited for there.
type standing struct {
	at     string
	waited time.Duration
}

// letPass waits until the projectors have passed all that had changed when it is called, but for the feeds in which they
// stand still.
func (a *auditRun) letPass(ctx context.Context) error {
	var ends changefeed.Ends
	err := a.db.RetryTransient(ctx, func() (err error) {
		ends, err = a.feeds.ReadEnds(ctx)
		return err
	})
	for waited, waiting := time.Duration(0), true; waiting && err == nil; waited += lookInterval {
		if waited >= longestWait {
			a.result.Stalled = true
			break
		}
		if err := a.options.Sleep(ctx, lookInterval); err != nil {
			return err
		}
		err = a.db.RetryTransient(ctx, func() (err error) {
			waiting, err = a.waitsFor(ctx, ends)
			return err
		})
	}
	if err != nil {
		return err
	}
	return a.options.Sleep(ctx, lookInterval)
}

// waitsFor tells whether a feed has not passed its end and still moves, or did not stand still for long.
func (a *auditRun) waitsFor(ctx context.Context, ends changefeed.Ends) (waits bool, err error) {
	leases, err := a.feeds.Leases(ctx)
	if err != nil {
		return false, err
	}
	for f, end := range ends {
		passed, err := a.feeds.Passed(ctx, f, end, leases)
		if err != nil && !errors.Is(err, changefeed.ErrContainerReplaced) {
			return false, err
		}
		switch {
		case passed:
			delete(a.stands, f)
		case a.stand(f, leases) < projectorPatience:
			waits = true
		default:
			a.result.Stalled = true
		}
	}
	return waits, nil
}

// stand notes that a feed is behind after another interval, and tells for how long its checkpoints did not move.
func (a *auditRun) stand(f changefeed.Feed, leases []changefeed.Lease) time.Duration {
	var positions []string
	for _, lease := range leases {
		if lease.Container == f.Container && lease.Range.Overlaps(f.FeedRange) {
			positions = append(positions, lease.ID+lease.Continuation)
		}
	}
	slices.Sort(positions)
	s := standing{at: strings.Join(positions, " ")}
	if before, ok := a.stands[f]; ok && before.at == s.at {
		s.waited = before.waited + lookInterval
	}
	a.stands[f] = s
	return s.waited
}
