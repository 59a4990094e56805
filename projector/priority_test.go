package projector_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// TestProjectorIsBackgroundWork checks that projections, sweeps, deletions and purges send all
// requests at low priority, and that only leases and heartbeats are written and listed without it.
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
	p := w.projector(w.open(wire), func(o *projector.Options) { o.Owner = "a projector" })
	heartbeatKey := fmt.Sprintf("[%q]", changefeed.Heartbeat{Owner: "a projector"}.ID())
	wire.Inject(nil)
	for range 3 {
		w.must(p.SettleForTests(w.Context()))
		w.clock.Advance(store.SettleTime)
	}
	operations, ofLeases, ofHeartbeats := map[string]int{}, 0, 0
	for _, request := range wire.Requests() {
		target, ofItems := cosmos.TargetOf(request)
		key := request.Header.Get("X-Ms-Documentdb-Partitionkey")
		isLease := strings.HasPrefix(key, `["lease.`) || strings.Contains(string(cosmostest.Body(request)), "'heartbeat'")
		isHeartbeat := key == heartbeatKey
		low := request.Header.Get(cosmos.PriorityHeader) == "Low"
		switch {
		case low != (ofItems && !isLease && !isHeartbeat):
			t.Errorf("%s %s: low priority: %t", request.Method, request.URL.Path, low)
		case isLease:
			ofLeases++
		case isHeartbeat:
			ofHeartbeats++
		case low:
			operations[target.Operation]++
		}
	}
	for _, operation := range []string{"changeFeed", "read", "query", "batch", "execute", "create"} {
		if operations[operation] == 0 {
			t.Errorf("no request %s was sent: %v", operation, operations)
		}
	}
	if ofLeases == 0 || ofHeartbeats == 0 {
		t.Errorf("%d leases and %d heartbeats were written", ofLeases, ofHeartbeats)
	}
}
