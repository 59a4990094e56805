package audit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
)

// An audit with a charge limit takes at least the time that its charges require. Without a
// limit it does not wait.
func TestAuditKeepsChargeLimit(t *testing.T) {
	for _, perSecond := range []float64{0, 50} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			ada := w.AddUser("Ada")
			for range 20 {
				w.OK(w.RepairPost(w.Ctx(), w.AddPost(ada).ID))
			}
			limit, begun := &cosmos.ChargeLimit{PerSecond: perSecond}, time.Now()
			audited, err := audit.Run(limit.Context(w.Ctx()), w.DB, audit.Options{})
			w.OK(err)
			if audited.Posts != 20 || audited.Drifts != 0 || limit.Spent() < 20 {
				t.Errorf("got %+v for %v RU", audited, limit.Spent())
			}
			seconds := time.Since(begun).Seconds()
			if perSecond == 0 && seconds != 0 || perSecond > 0 && seconds < limit.Spent()/perSecond-0.001 {
				t.Errorf("%v RU took %v s, with a limit of %v RU/s", limit.Spent(), seconds, perSecond)
			}
		})
	}
}
