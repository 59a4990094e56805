package audit_test

import (
	"context"
	"testing"
	"time"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
)

// An audit with a charge limit takes at least the time that its charges require. Without a
// limit it does not wait.
func TestAuditKeepsChargeLimit(t *testing.T) {
	for _, perSecond := range []float64{0, 50} {
		w := newWorld(t)
		ada := w.AddUser("Ada")
		for range 20 {
			w.OK(w.RepairPost(w.Ctx(), w.AddPost(ada).ID))
		}
		clock := &sleepingClock{storetest.NewStillClock(w.Clock.Now())}
		begun := clock.Now()
		limit := &cosmos.ChargeLimit{PerSecond: perSecond, Now: clock.Now, Sleep: clock.sleep}
		audited, err := audit.Run(limit.Context(w.Ctx()), w.DB, audit.Options{Parallel: 1})
		w.OK(err)
		if audited.Posts != 20 || audited.Drifts != 0 || limit.Spent() < 20 {
			t.Errorf("got %+v for %v RU", audited, limit.Spent())
		}
		seconds := clock.Now().Sub(begun).Seconds()
		if perSecond == 0 && seconds != 0 || perSecond > 0 && seconds < limit.Spent()/perSecond-0.001 {
			t.Errorf("%v RU took %v s, with a limit of %v RU/s", limit.Spent(), seconds, perSecond)
		}
	}
}

// sleepingClock is a clock that only Sleep moves.
type sleepingClock struct{ *storetest.StillClock }

func (c *sleepingClock) sleep(_ context.Context, d time.Duration) error {
	c.Advance(d)
	return nil
}
