package projector_test

import (
	"maps"
	"testing"
	"testing/synctest"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// The owner of a data folder takes the leases of others over when it begins, and then never again, also while a container is
// away.
func TestTakingOverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 2)
		_, s := w.wired()
		visitor := w.members(1)[0]
		defer visitor.stop()
		pass(10 * balance)
		w.remove(store.PostsContainer)
		_, stop := w.run(s, alone, func(o *projector.Options) { o.TakeOver = true })
		defer stop()
		pass(10 * balance)
		before := w.owners()
		for range 20 {
			pass(balance / 4)
			if now := w.owners(); !maps.Equal(now, before) {
				t.Fatalf("the leases still move: %v, then %v", before, now)
			}
		}
	})
}
