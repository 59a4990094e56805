package changefeed_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// projected returns a lease whose changes are projected up to a continuation.
func projected(id string) changefeed.Lease {
	return changefeed.Lease{
		ID: id, Container: schema.Posts, Range: follow.FeedRange{Max: "FF"}, ResourceID: "r", Continuation: "c",
		Position: "0:-1#5", AsOf: "2026-11-28T09:00:00.000000Z", Views: "feed=0:-1#7",
	}
}

// holdsLease checks that a lease of the present history is as wanted, apart from the history and
// the etag.
func (w *world) holdsLease(present changefeed.History, want changefeed.Lease) {
	w.T.Helper()
	got := w.lease(want.ID)
	want.History, want.ETag = present.Name, got.ETag
	if got != want {
		w.T.Errorf("the lease is %+v, want %+v", got, want)
	}
}

func (w *world) endKeepingLeases(life string) changefeed.History {
	w.T.Helper()
	present, err := w.EndHistoryKeepingLeases(w.Ctx(), life, "a test")
	w.OK(err)
	return present
}

func TestEndHistoryKeepingLeases(t *testing.T) {
	w := newWorld(t)
	lease := projected("lease.posts.-FF")
	w.OK(w.CreateLease(w.Ctx(), lease))

	first := w.endKeepingLeases("life 1")
	if first.Name == "" || first.Life != "life 1" || !first.IsRebuilt || !first.HasWholeFeeds() || first.Reason != "a test" {
		t.Errorf("the first history is %+v", first)
	}
	w.holdsLease(first, lease)
	if again := w.endKeepingLeases("life 1"); again != first {
		t.Errorf("the same life ended the history again: %+v after %+v", again, first)
	}
	second := w.endKeepingLeases("life 2")
	third := w.endKeepingLeases("")
	if first.Name >= second.Name || second.Name >= third.Name || third.Life != "life 2" || !third.HasWholeFeeds() {
		t.Errorf("the histories are %+v, %+v and %+v", first, second, third)
	}
	w.holdsLease(third, lease)
	_, err := w.SaveLease(w.Ctx(), w.lease(lease.ID))
	w.OK(err)
	w.holdsLease(w.endKeepingLeases("life 3"), lease)

	// An end that does not keep the leases counts, also for leases of earlier histories.
	present, err := w.History(w.Ctx())
	w.OK(err)
	void, err := w.EndHistory(w.Ctx(), present.Name, "another test")
	w.OK(err)
	if void.IsRebuilt || void.HasWholeFeeds() || void.Life != "life 3" {
		t.Errorf("after a failover, the history is %+v", void)
	}
	kept := w.endKeepingLeases("life 4")
	if kept.IsRebuilt || kept.HasWholeFeeds() {
		t.Errorf("a restored folder whose views were not rebuilt has the history %+v", kept)
	}
	begun := lease
	begun.Begin(kept.Name)
	w.holdsLease(kept, begun)
	mine := w.lease(lease.ID)
	mine.Position, mine.AsOf = "0:-1#2", lease.AsOf
	mine, err = w.SaveLease(w.Ctx(), mine)
	w.OK(err)
	w.holdsLease(w.endKeepingLeases("life 5"), mine)
}

// Of several processes that open a restored folder, one ends the history.
func TestOneProcessEndsTheHistoryOfALife(t *testing.T) {
	w := newWorld(t)
	const processes = 8
	histories := make([]changefeed.History, processes)
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() {
			var err error
			if histories[i], err = w.EndHistoryKeepingLeases(w.Ctx(), "a life", "a test"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, h := range histories {
		if h.Name == "" || h.Name != histories[0].Name {
			t.Errorf("there are the histories %+v and %+v", histories[0], h)
		}
	}
}

// A history ends, and a projector saves a lease in the next one, while leases are listed. The
// listed ones stay valid, although the listing may have the history before with a lease of the next
// one.
func TestHistoryEndsDuringAListing(t *testing.T) {
	w := newWorld(t)
	other, last := w.another(), w.endKeepingLeases("before")
	lease := projected("")
	const leaseCount = 250 // several pages
	for i := range leaseCount {
		lease.ID = fmt.Sprint("lease.", i)
		w.OK(w.CreateLease(w.Ctx(), lease))
	}
	mixed := false
	for at := 1; at <= 4; at++ {
		queries := 0
		w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if request.Header.Get("Content-Type") == "application/query+json" {
				if queries++; queries == at {
					w.Wire.Inject(nil)
					last = other.endKeepingLeases("")
					leases, err := other.Leases(w.Ctx())
					w.OK(err)
					for _, l := range leases {
						_, err := other.SaveLease(w.Ctx(), l)
						w.OK(err)
					}
				}
			}
			return next.Do(request)
		})
		listing, err := w.List(w.Ctx())
		leases, history := listing.Leases, listing.History
		w.Wire.Inject(nil)
		w.OK(err)
		mixed = mixed || queries > 1 && history.Name == last.Name
		if len(leases) != leaseCount || !history.HasWholeFeeds() || !history.IsRebuilt {
			t.Errorf("%d leases of the history %+v are listed", len(leases), history)
		}
		for _, l := range leases {
			if l.Continuation != lease.Continuation || l.Position != lease.Position || l.History != history.Name {
				t.Errorf("the history ended before query %d: the lease is %+v", at, l)
			}
		}
	}
	if !mixed {
		t.Error("no history ended during a listing")
	}
}
