package changefeed_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

func TestLeases(t *testing.T) {
	w := newWorld(t)
	lease := changefeed.Lease{ID: "lease.posts.-FF", Container: schema.Posts, Range: follow.FeedRange{Max: "FF"}, ResourceID: "r", Continuation: "c"}
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

// A position moves forward only. All ranges that it names get the number of the latest page. Its
// time is that of the latest page that ended there, and not of one of an earlier state.
func TestPass(t *testing.T) {
	var lease changefeed.Lease
	asOf := blog.DateTime("2026-11-28T09:00:00.000000Z")
	for _, step := range []struct{ position, want string }{
		{"", ""}, {"0:-1#5", "0:-1#5"}, {"0:-1#4", "0:-1#5"}, {"", "0:-1#5"}, {"0:-1#7", "0:-1#7"},
		{"1:-1#9", "0:-1#9,1:-1#9"}, {"1:-1#8", "0:-1#9,1:-1#9"}, {"1:2#3", "0:2#3,1:2#3"}, {"4:2#11", "0:2#11,1:2#11,4:2#11"}, {"4:2#11", "0:2#11,1:2#11,4:2#11"},
	} {
		before := lease
		asOf = asOf.After(asOf)
		lease.Pass(step.position, asOf)
		if lease.Position != step.want {
			t.Errorf("after %q, the position is %q, want %q", step.position, lease.Position, step.want)
		}
		isEnd := step.position != "" && strings.Contains(lease.Position, step.position)
		if isEnd != (lease.AsOf == asOf) || !isEnd && lease.AsOf != before.AsOf {
			t.Errorf("after %q, the position is of %q, before of %q", step.position, lease.AsOf, before.AsOf)
		}
	}
}

// The states of views move forward, except in the ranges of own writes: there, the latest write
// counts, because the numbers may begin anew.
func TestShow(t *testing.T) {
	parse := func(text string) cosmos.SessionTokens {
		tokens, err := cosmos.ParseSessionTokens(text)
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	var lease changefeed.Lease
	for _, step := range []struct{ seen, written, want string }{
		{"", "", ""}, {"feed=0:-1#5", "feed=0:-1#5", "feed=0:-1#5"}, {"feed=0:-1#4;users=1:-1#2", "", "feed=0:-1#5;users=1:-1#2"},
		{"feed=0:-1#9", "feed=0:-1#8", "feed=0:-1#9;users=1:-1#2"}, {"feed=0:-1#3;users=2:-1#1", "feed=0:-1#2", "feed=0:-1#3;users=1:-1#2,2:-1#1"},
	} {
		lease.Show(parse(step.seen), parse(step.written))
		if lease.Views != step.want {
			t.Errorf("after seeing %q and writing %q, the views are %q, want %q", step.seen, step.written, lease.Views, step.want)
		}
	}
	many := cosmos.SessionTokens{"lists": {}}
	for i := range 100 {
		many["lists"][fmt.Sprint(i)] = "-1#1"
	}
	lease.Show(many, nil)
	lease.Show(parse("lists=7:-1#8"), nil)
	if lease.Views != "feed=0:-1#3;lists=7:-1#8;users=1:-1#2,2:-1#1" {
		t.Errorf("after many ranges, the views are %q", lease.Views)
	}
}
