package changefeed_test

import (
	"errors"
	"slices"
	"testing"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

func TestLeases(t *testing.T) {
	w := newWorld(t)
	lease := changefeed.Lease{ID: "lease.posts.-FF", Container: schema.Posts, Range: changefeed.FeedRange{Max: "FF"}, ResourceID: "r", Continuation: "c"}
	w.OK(w.CreateLease(t.Context(), lease))
	mine := w.lease(lease.ID)
	mine.Owner, mine.Continuation = "me", "d"
	saved, err := w.SaveLease(t.Context(), mine)
	w.OK(err)
	w.OK(w.CreateLease(t.Context(), lease)) // changes nothing
	if got := w.lease(lease.ID); got != saved || got.Owner != "me" || got.Continuation != "d" || got.Range != lease.Range {
		t.Errorf("the lease is %+v, want %+v", got, saved)
	}
	_, err = w.SaveLease(t.Context(), mine) // read before the save
	if !errors.Is(err, changefeed.ErrLeaseLost) {
		t.Errorf("with an old etag: %v", err)
	}
	_, err = w.SaveLease(t.Context(), changefeed.Lease{ID: "lease.none", ETag: saved.ETag})
	if !errors.Is(err, changefeed.ErrLeaseLost) {
		t.Errorf("saving a deleted lease: %v", err)
	}
}

func TestDeleteLease(t *testing.T) {
	w := newWorld(t)
	w.OK(w.CreateLease(t.Context(), changefeed.Lease{ID: "lease.posts.-FF"}))
	read := w.lease("lease.posts.-FF")
	read.Owner = "me"
	saved, err := w.SaveLease(t.Context(), read)
	w.OK(err)
	if err := w.DeleteLease(t.Context(), read); !errors.Is(err, changefeed.ErrLeaseLost) {
		t.Errorf("with an old etag: %v", err)
	}
	for range 2 { // the second time, the lease no longer exists
		w.OK(w.DeleteLease(t.Context(), saved))
	}
	if leases, err := w.Leases(t.Context()); err != nil || len(leases) != 0 {
		t.Errorf("leases %+v, error %v, want none", leases, err)
	}
}

func (w *world) lease(id string) changefeed.Lease {
	w.T.Helper()
	leases, err := w.Leases(w.Ctx())
	w.OK(err)
	i := slices.IndexFunc(leases, func(l changefeed.Lease) bool { return l.ID == id })
	if i < 0 {
		w.T.Fatalf("no lease %s among %v", id, leases)
	}
	return leases[i]
}
