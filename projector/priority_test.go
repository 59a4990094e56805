package projector_test

import (
	"net/http"
	"strings"
	"testing"

	"cosmosblog/store"
	"cosmosblog/store/cosmos"
)

// TestProjectorIsBackgroundWork checks that projections, sweeps, deletions and purges send all
// requests at low priority, and that only writes of leases are sent without it.
func TestProjectorIsBackgroundWork(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.user(), w.user()
	posts := w.posts(anna, 3)
	w.comment(ben, posts[0])
	w.like(ben, posts[1])
	w.delete(posts[1])
	w.rename(anna)
	w.deleteUser(ben)

	wire := w.engine.NewTransport()
	p := w.projector(w.open(wire))
	wire.Inject(nil)
	for range 3 {
		w.must(p.SettleForTests(w.Context()))
		w.clock.Advance(store.SettleTime)
	}
	operations, ofLeases := map[string]int{}, 0
	for _, request := range wire.Requests() {
		target, ofItems := cosmos.TargetOf(request)
		isLease := request.Method == http.MethodPut && strings.Contains(request.URL.Path, "/colls/leases/docs/lease.")
		low := request.Header.Get(cosmos.PriorityHeader) == "Low"
		switch {
		case low != (ofItems && !isLease):
			t.Errorf("%s %s: low priority: %t", request.Method, request.URL.Path, low)
		case isLease:
			ofLeases++
		case low:
			operations[target.Operation]++
		}
	}
	for _, operation := range []string{"changeFeed", "read", "query", "batch", "execute", "create"} {
		if operations[operation] == 0 {
			t.Errorf("no request %s was sent: %v", operation, operations)
		}
	}
	if ofLeases == 0 {
		t.Error("no lease was written")
	}
}
