package store

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cosmosblog/store/embedded"
	host "cosmosblog/store/embedded/script"
)

func TestLeases(t *testing.T) {
	w := newWorld(t)
	lease := Lease{ID: "lease.posts.-FF", Container: PostsContainer, Range: FeedRange{Max: "FF"}, ResourceID: "r", Continuation: "c"}
	w.ok(w.CreateLease(t.Context(), lease))
	mine := w.lease(lease.ID)
	mine.Owner, mine.Continuation = "me", "d"
	saved, err := w.SaveLease(t.Context(), mine)
	w.ok(err)
	w.ok(w.CreateLease(t.Context(), lease)) // it stays as it is
	if got := w.lease(lease.ID); got != saved || got.Owner != "me" || got.Continuation != "d" || got.Range != lease.Range {
		t.Errorf("%+v, want %+v", got, saved)
	}
	_, err = w.SaveLease(t.Context(), mine) // as it was read before
	if !errors.Is(err, ErrLeaseLost) {
		t.Errorf("an old etag: %v", err)
	}
	_, err = w.SaveLease(t.Context(), Lease{ID: "lease.none", ETag: saved.ETag})
	if !errors.Is(err, ErrLeaseLost) {
		t.Errorf("a lease that is gone: %v", err)
	}
}

func (w *world) lease(id string) Lease {
	w.t.Helper()
	leases, err := w.Leases(w.ctx())
	w.ok(err)
	i := slices.IndexFunc(leases, func(l Lease) bool { return l.ID == id })
	if i < 0 {
		w.t.Fatalf("no lease %s among %v", id, leases)
	}
	return leases[i]
}

func TestSweepsAreReplacedByLaterOnes(t *testing.T) {
	w := newWorld(t)
	record := func(name string, revision int64, last bool) {
		t.Helper()
		w.ok(w.RecordSweep(t.Context(), Sweep{UserID: "u_a", Username: name, AuthorRevision: revision, Last: last}))
	}
	pending := func() []Sweep {
		t.Helper()
		sweeps, err := w.Sweeps(t.Context())
		w.ok(err)
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
	w.ok(w.FinishPass(t.Context(), first)) // of the rename before
	if got := pending(); len(got) != 1 || got[0].Username != "annie" || got[0].Last {
		t.Fatalf("the pass of an earlier rename finished that of a later one: %+v", got)
	}
	w.ok(w.FinishPass(t.Context(), pending()[0]))
	if got := pending(); len(got) != 1 || !got[0].Last {
		t.Fatalf("after the first pass: %+v", got)
	}
	w.ok(w.FinishPass(t.Context(), pending()[0]))
	if got := pending(); len(got) != 0 {
		t.Fatalf("after the last pass: %+v", got)
	}
}

// A sweep finds all that is the user's in whatever partition, and nothing that is somebody else's or has a later name.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.user("anna"), w.user("ben")
	annas, bens := w.post(anna), w.post(ben)
	for range 3 {
		w.comment(anna, bens)
		w.comment(ben, annas)
	}
	_, err := w.LikePost(t.Context(), anna, bens.ID)
	w.ok(err)
	later := *anna
	later.Username, later.Revision = "annabel", 9
	w.comment(&later, bens)

	sweep := Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: anna.Revision + 2}
	for _, want := range []int{5, 0} {
		updated, _, err := w.Sweep(t.Context(), sweep, w.NewPace(4))
		w.ok(err)
		if updated != want {
			t.Errorf("%d items, want %d", updated, want)
		}
	}
	if post := w.change(annas.ID, annas.ID).Post; post.Author.Username != "annie" || post.Revision != 5 {
		t.Errorf("the post: %+v by %+v", post, post.Author)
	}
	names := map[string]int{}
	for _, comment := range append(listAll(w, bens.ID, w.Comments), listAll(w, annas.ID, w.Comments)...) {
		names[comment.Author.Username]++
	}
	for _, like := range listAll(w, bens.ID, w.Likes) {
		names[like.User.Username]++
	}
	if names["annie"] != 4 || names["annabel"] != 1 || names["ben"] != 3 {
		t.Errorf("names: %v", names)
	}
}

// However little one execution of updateUsernames may do, the sweep goes on until all is done.
func TestSweepGoesOn(t *testing.T) {
	w := newWorldWith(t, embedded.Options{Script: host.Options{Accept: func(operation int) bool { return operation <= 4 }}})
	anna := w.user("anna")
	post := w.post(anna)
	for range 20 {
		w.comment(anna, post)
	}
	updated, _, err := w.Sweep(t.Context(), Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: 9}, w.NewPace(1))
	w.ok(err)
	if updated != 21 {
		t.Errorf("%d items, want 21", updated)
	}
}

// A partition in which no execution gets anywhere is tried for a while, and then does not hold the sweep up any longer.
func TestASweepThatGetsNowhere(t *testing.T) {
	w := newWorldWith(t, embedded.Options{Script: host.Options{Accept: func(operation int) bool { return operation <= 1 }}})
	anna := w.user("anna")
	post := w.post(anna)
	executions := 0
	w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, updateUsernamesScript.id) {
			if executions++; executions > 100 {
				return nil, errCut
			}
		}
		return next.Do(request)
	})
	_, err := w.sweepPost(w.ctx(), post.ID, Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: 9})
	if !ConcernsItem(err) || executions > 100 {
		t.Errorf("after %d executions: %v", executions, err)
	}
}
