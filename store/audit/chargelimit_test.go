package audit_test

import (
	"context"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/storetest"
	"testing"
	"time"
)

// An audit takes at least the time that its charges cost; without a limit it waits for nothing.
func TestAnAuditKeepsToItsLimit(t *testing.T) {
	for _, perSecond := range []float64{0, 50} {
		w := newWorld(t)
		ada := w.AddUser("Ada")
		for range 20 {
			w.OK(w.RepairPost(w.Ctx(), w.AddPost(ada).ID))
		}
		clock := &sleptClock{storetest.NewStillClock(w.Clock.Now())}
		begun := clock.Now()
		limit := &cosmos.ChargeLimit{PerSecond: perSecond, Now: clock.Now, Sleep: clock.sleepUntil}
		audited, err := audit.Run(limit.Context(w.Ctx()), w.DB, audit.Options{Parallel: 1})
		w.OK(err)
		if audited.Posts != 20 || audited.Drifts != 0 || limit.Spent() < 20 {
			t.Errorf("%+v for %v RU", audited, limit.Spent())
		}
		if seconds := clock.Now().Sub(begun).Seconds(); perSecond == 0 && seconds != 0 || perSecond > 0 && seconds < limit.Spent()/perSecond-0.001 {
			t.Errorf("%v RU in %v s, at %v a second", limit.Spent(), seconds, perSecond)
		}
	}
}

// sleptClock is moved by who sleeps.
type sleptClock struct{ *storetest.StillClock }

func (c *sleptClock) sleepUntil(_ context.Context, d time.Duration) error {
	c.Advance(d)
	return nil
}
