package changefeed_test

import (
	"net/http"
	"strings"
	"testing"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/embedded"
	host "cosmosblog/store/embedded/script"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/views"
)

// TestNewerSweepReplacesOlder checks that the sweep of a newer rename replaces an older sweep,
// never the reverse. An older sweep cannot finish a pass of the newer one.
func TestNewerSweepReplacesOlder(t *testing.T) {
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
		t.Fatalf("the sweep of an older rename replaced that of a newer one: %+v", got)
	}
	record("annie", 6, false)
	w.OK(w.FinishPass(t.Context(), first)) // the older rename
	if got := pending(); len(got) != 1 || got[0].Username != "annie" || got[0].Last {
		t.Fatalf("the older sweep finished the pass of the newer one: %+v", got)
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

// TestSweep checks that a sweep updates all items of the user in all partitions, and no items of
// other users or with a newer name.
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
			t.Errorf("%d items updated, want %d", updated, want)
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

// TestSweepRepeatsExecutions checks that a sweep executes updateUsernames again until all items
// are updated, even if one execution can update only a few.
func TestSweepRepeatsExecutions(t *testing.T) {
	w := newWorldWith(t, embedded.Options{Script: host.Options{Accept: func(operation int) bool { return operation <= 4 }}})
	anna := w.AddUser("anna")
	post := w.AddPost(anna)
	for range 20 {
		w.AddComment(anna, post)
	}
	updated, _, err := w.Sweep(t.Context(), views.Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: 9}, w.NewThrottler(1))
	w.OK(err)
	if updated != 21 {
		t.Errorf("%d items updated, want 21", updated)
	}
}

// TestSweepStopsWithoutProgress checks that a sweep skips a partition after a number of
// executions without progress.
func TestSweepStopsWithoutProgress(t *testing.T) {
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
		t.Errorf("after %d executions: error %v", executions, err)
	}
}
