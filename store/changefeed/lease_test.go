package changefeed_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/embedded"
	host "cosmosblog/store/embedded/script"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/views"
)

func TestLeases(t *testing.T) {
	w := newWorld(t)
	lease := changefeed.Lease{ID: "lease.posts.-FF", Container: schema.Posts, Range: changefeed.FeedRange{Max: "FF"}, ResourceID: "r", Continuation: "c"}
	w.OK(w.CreateLease(t.Context(), lease))
	mine := w.lease(lease.ID)
	mine.Owner, mine.Continuation = "me", "d"
	saved, err := w.SaveLease(t.Context(), mine)
	w.OK(err)
	w.OK(w.CreateLease(t.Context(), lease)) // it stays as it is
	if got := w.lease(lease.ID); got != saved || got.Owner != "me" || got.Continuation != "d" || got.Range != lease.Range {
		t.Errorf("%+v, want %+v", got, saved)
	}
	_, err = w.SaveLease(t.Context(), mine) // as it was read before
	if !errors.Is(err, changefeed.ErrLeaseLost) {
		t.Errorf("an old etag: %v", err)
	}
	_, err = w.SaveLease(t.Context(), changefeed.Lease{ID: "lease.none", ETag: saved.ETag})
	if !errors.Is(err, changefeed.ErrLeaseLost) {
		t.Errorf("a lease that is gone: %v", err)
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

func TestSweepsAreReplacedByLaterOnes(t *testing.T) {
	w := newWorld(t)
	record := func(name string, revision int64, last bool) {
		t.Helper()
		w.OK(w.RecordSweep(t.Context(), views.Sweep{UserID: "u_a", Username: name, AuthorRevision: revision, Last: last}))
	}
	pending := func() []views.Sweep {
		t.Helper()
		sweeps, err := w.Sweeps(t.Context())
		w.OK(err)
		return sweeps
	}
	record("anna", 4, false)
	first := pending()[0]
	record("ann", 3, false)
	record("anna", 4, true)
	if got := pending(); len(got) != 1 || got[0] != first {
		t.Fatalf("an earlier rename took the place of a later one: %+v", got)
	}
	record("annie", 6, false)
	w.OK(w.FinishPass(t.Context(), first)) // of the rename before
	if got := pending(); len(got) != 1 || got[0].Username != "annie" || got[0].Last {
		t.Fatalf("the pass of an earlier rename finished that of a later one: %+v", got)
	}
	w.OK(w.FinishPass(t.Context(), pending()[0]))
	if got := pending(); len(got) != 1 || !got[0].Last {
		t.Fatalf("after the first pass: %+v", got)
	}
	w.OK(w.FinishPass(t.Context(), pending()[0]))
	if got := pending(); len(got) != 0 {
		t.Fatalf("after the last pass: %+v", got)
	}
}

// A sweep finds all that is the user's in whatever partition, and nothing that is somebody else's or has a later name.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.AddUser("anna"), w.AddUser("ben")
	annas, bens := w.AddPost(anna), w.AddPost(ben)
	for range 3 {
		w.AddComment(anna, bens)
		w.AddComment(ben, annas)
	}
	_, err := w.LikePost(t.Context(), anna, bens.ID)
	w.OK(err)
	later := *anna
	later.Username, later.Revision = "annabel", 9
	w.AddComment(&later, bens)

	sweep := views.Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: anna.Revision + 2}
	for _, want := range []int{5, 0} {
		updated, _, err := w.Sweep(t.Context(), sweep, w.NewThrottler(4))
		w.OK(err)
		if updated != want {
			t.Errorf("%d items, want %d", updated, want)
		}
	}
	if post := w.ReadChange(annas.ID, annas.ID).Post; post.Author.Username != "annie" || post.Revision != 5 {
		t.Errorf("the post: %+v by %+v", post, post.Author)
	}
	names := map[string]int{}
	for _, comment := range append(storetest.ListAll(w.World, bens.ID, w.Comments), storetest.ListAll(w.World, annas.ID, w.Comments)...) {
		names[comment.Author.Username]++
	}
	for _, like := range storetest.ListAll(w.World, bens.ID, w.Likes) {
		names[like.User.Username]++
	}
	if names["annie"] != 4 || names["annabel"] != 1 || names["ben"] != 3 {
		t.Errorf("names: %v", names)
	}
}

// However little one execution of updateUsernames may do, the sweep goes on until all is done.
func TestSweepGoesOn(t *testing.T) {
	w := newWorldWith(t, embedded.Options{Script: host.Options{Accept: func(operation int) bool { return operation <= 4 }}})
	anna := w.AddUser("anna")
	post := w.AddPost(anna)
	for range 20 {
		w.AddComment(anna, post)
	}
	updated, _, err := w.Sweep(t.Context(), views.Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: 9}, w.NewThrottler(1))
	w.OK(err)
	if updated != 21 {
		t.Errorf("%d items, want 21", updated)
	}
}

// A partition in which no execution gets anywhere is tried for a while, and then does not hold the sweep up any longer.
func TestASweepThatGetsNowhere(t *testing.T) {
	w := newWorldWith(t, embedded.Options{Script: host.Options{Accept: func(operation int) bool { return operation <= 1 }}})
	anna := w.AddUser("anna")
	post := w.AddPost(anna)
	executions := 0
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, schema.UpdateUsernames.ID) {
			if executions++; executions > 100 {
				return nil, storetest.ErrCut
			}
		}
		return next.Do(request)
	})
	_, err := w.SweepPost(w.Ctx(), post.ID, views.Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: 9})
	if !cosmos.IsItemError(err) || executions > 100 {
		t.Errorf("after %d executions: %v", executions, err)
	}
}
