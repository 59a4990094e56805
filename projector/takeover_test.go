package projector_test

import (
	"maps"
	"testing"
	"testing/synctest"

	"cosmosblog/projector"
	"cosmosblog/store/schema"
)

// The owner of a data folder takes over all leases at its start, and never again, even while a
// container is missing.
func TestTakeOverHappensOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 2)
		_, s := w.wired()
		visitor := w.members(1)[0]
		defer visitor.stop()
		advanceTime(10 * balance)
		w.remove(schema.Posts)
		_, stop := w.run(s, withoutTakeOver, func(o *projector.Options) { o.TakeOver = true })
		defer stop()
		advanceTime(10 * balance)
		before := w.owners()
		for range 20 {
			advanceTime(balance / 4)
			if now := w.owners(); !maps.Equal(now, before) {
				t.Fatalf("the leases still move: %v, then %v", before, now)
			}
		}
	})
}
