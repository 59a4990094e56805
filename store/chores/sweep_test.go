package chores_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/bulk"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestNewerSweepReplacesOlder checks that the sweep of a newer rename replaces that of an older
// one, never the reverse, and that an older sweep cannot finish a newer one's pass.
func TestNewerSweepReplacesOlder(t *testing.T) {
	w := newWorld(t)
	record := func(name string, revision int64, last bool) {
		t.Helper()
		w.OK(w.RecordSweep(t.Context(), chores.Sweep{UserID: "u_a", Username: name, AuthorRevision: revision, Last: last}))
	}
	pending := func() []chores.Sweep {
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
	w.OK(w.FinishSweepPass(t.Context(), first, 0)) // the older rename
	if got := pending(); len(got) != 1 || got[0].Username != "annie" || got[0].Last {
		t.Fatalf("the older sweep finished the pass of the newer one: %+v", got)
	}
	w.OK(w.FinishSweepPass(t.Context(), pending()[0], 0))
	if got := pending(); len(got) != 1 || !got[0].Last {
		t.Fatalf("after the first pass: %+v", got)
	}
	w.OK(w.FinishSweepPass(t.Context(), pending()[0], 0))
	if got := pending(); len(got) != 0 {
		t.Fatalf("after the last pass: %+v", got)
	}
}

// TestSweep checks that a sweep updates all items of the user in all partitions, and the recent
// comments of posts, and no items of other users or with a newer name.
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

	sweep := chores.Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: anna.Revision + 2}
	for _, want := range []int{6, 0} {
		updated, err := chores.Run(t.Context(), w.SweepPass(sweep))
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
// are updated, however little one execution can do.
func TestSweepRepeatsExecutions(t *testing.T) {
	w := newWorldWith(t, cosmostest.Options{Scripts: cosmostest.Scripts{Accept: func(operation int) bool { return operation <= 4 }}})
	anna := w.AddUser("anna")
	post := w.AddPost(anna)
	for range 20 {
		w.AddComment(anna, post)
	}
	sweep := chores.Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: 9}
	updated, err := chores.Run(t.Context(), w.SweepPass(sweep))
	w.OK(err)
	if updated != 21 {
		t.Errorf("%d items updated, want 21", updated)
	}
}

// TestSweepStopsWithoutProgress checks that a sweep skips a partition after a number of
// executions without progress.
func TestSweepStopsWithoutProgress(t *testing.T) {
	w := newWorldWith(t, cosmostest.Options{Scripts: cosmostest.Scripts{Accept: func(operation int) bool { return operation <= 1 }}})
	anna := w.AddUser("anna")
	post := w.AddPost(anna)
	executions := 0
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, schema.UpdateUsernames.ID) {
			if executions++; executions > 100 {
				return nil, storetest.ErrCut
			}
		}
		return next.Do(request)
	})
	_, err := w.SweepPost(w.Ctx(), post.ID, chores.Sweep{UserID: anna.ID, Username: "annie", AuthorRevision: 9})
	if !cosmos.IsItemError(err) || executions > 100 {
		t.Errorf("after %d executions: error %v", executions, err)
	}
}

// A sweep from before the container users was recreated is replaced by any later rename. In a
// restored account, where all containers have new resource ids, no user is swept again.
func TestSweepOfRecreatedContainerIsReplaced(t *testing.T) {
	w := newWorld(t)
	before := chores.Sweep{UserID: "u_1", Username: "ada", AuthorRevision: 8, Last: true, ResourceID: "before"}
	for _, c := range []struct {
		name     string
		later    chores.Sweep
		recorded bool
	}{
		{"an earlier rename", chores.Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4, ResourceID: "before"}, false},
		{"a restored account", chores.Sweep{UserID: "u_1", Username: "ada", AuthorRevision: 8, ResourceID: "now"}, false},
		{"a retry without a resource id", chores.Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4}, false},
		{"a recreated container", chores.Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4, ResourceID: "now"}, true},
		{"a lost rename", chores.Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 8, ResourceID: "before", History: "later"}, true},
		{"a later history", chores.Sweep{UserID: "u_1", Username: "ada", AuthorRevision: 8, ResourceID: "before", History: "later"}, false},
	} {
		w.OK(w.RecordSweep(w.Ctx(), before))
		sweeps, err := w.Sweeps(w.Ctx())
		w.OK(err)
		w.OK(w.FinishSweepPass(w.Ctx(), sweeps[0], 0))
		w.OK(w.RecordSweep(w.Ctx(), c.later))
		sweeps, err = w.Sweeps(w.Ctx())
		if w.OK(err); (len(sweeps) == 1) != c.recorded {
			t.Errorf("%s: pending sweeps %+v", c.name, sweeps)
		}
		id := schema.SweepID("u_1")
		_, err = w.Container(schema.Leases).DeleteItem(w.Ctx(), azcosmos.NewPartitionKeyString(id), id, nil)
		w.OK(err)
	}
}

// sweptWorld has a user with a comment on each of n posts of another user, and the user's sweep.
func sweptWorld(t *testing.T, n int) (*world, chores.Sweep) {
	w := newWorld(t)
	writer := &blog.User{ID: "u_writer", Username: "writer", Revision: 2}
	author := &blog.User{ID: "u_a", Username: "anna", Revision: 2}
	date := blog.NewDateTime(w.Clock.Now())
	for i := range n {
		_, err := w.WriteThread(t.Context(), bulk.Thread{
			Post:     &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: author, Content: "…", CreationDate: date},
			Comments: []*blog.Comment{{ID: fmt.Sprintf("c_%d", i), Author: writer, Content: "…", CreationDate: date}},
		})
		w.OK(err)
	}
	w.Wire.Inject(nil)
	return w, chores.Sweep{UserID: writer.ID, Username: "rewriter", AuthorRevision: 4}
}

// executions counts the executions of updateUsernames.
func (w *world) executions() (n int) {
	for _, request := range w.Wire.Requests() {
		if strings.Contains(request.URL.Path, "/sprocs/") {
			n++
		}
	}
	return n
}

// remaining counts the partitions that a sweep still has to change.
func (w *world) remaining(sweep chores.Sweep) (n int) {
	w.T.Helper()
	n, err := w.another().CountSwept(w.Ctx(), sweep)
	w.OK(err)
	return n
}

// After a crash in the middle of a sweep, the next pass changes only what is left.
func TestSweepContinuesAfterCrash(t *testing.T) {
	const n = 350
	w, sweep := sweptWorld(t, n)
	w.Wire.Inject(cosmostest.From(200, storetest.CutBefore))
	if _, err := chores.Run(t.Context(), w.SweepPass(sweep)); err == nil {
		t.Fatal("the sweep did not crash")
	}
	done := n - w.remaining(sweep)
	w.Wire.Inject(nil)
	updated, err := chores.Run(t.Context(), w.SweepPass(sweep))
	w.OK(err)
	if done < 100 || updated != 2*(n-done) || w.executions() != n-done || w.remaining(sweep) != 0 {
		t.Errorf("%d items were updated, then %d by %d executions, %d are left",
			done, updated, w.executions(), w.remaining(sweep))
	}
}

// Each turn of a pass sends at most one request, also in a query of several feed ranges.
func TestSweepOfManyRanges(t *testing.T) {
	w := newDividedWorld(t)
	writer := &blog.User{ID: "u_writer", Username: "writer", Revision: 2}
	date := blog.NewDateTime(w.Clock.Now())
	for i := range 8 {
		_, err := w.WriteThread(t.Context(), bulk.Thread{
			Post: &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: writer, Content: "…", CreationDate: date},
		})
		w.OK(err)
	}
	sweep := chores.Sweep{UserID: writer.ID, Username: "rewriter", AuthorRevision: 4}
	w.Wire.Inject(nil)
	pace := &testPace{world: w}
	w.OK(w.SweepPass(sweep)(t.Context(), &chores.Progress{Pace: pace, Parallel: 1}))
	if pace.most != 1 || pace.turns > 50 || w.remaining(sweep) != 0 {
		t.Errorf("%d turns of at most %d requests, %d posts are left", pace.turns, pace.most, w.remaining(sweep))
	}
}

// A partition whose update is refused does not stop the update of the others.
func TestSweepContinuesAfterRefusal(t *testing.T) {
	const n = 120
	w, sweep := sweptWorld(t, n)
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get(cosmos.PartitionKeyHeader) == `["p_7"]` {
			return cosmostest.Refuse(http.StatusBadRequest)(0, request, nil)
		}
		return next.Do(request)
	})
	updated, err := chores.Run(t.Context(), w.SweepPass(sweep))
	if !cosmos.IsItemError(err) || updated != 2*(n-1) {
		t.Errorf("%d items updated, error %v", updated, err)
	}
}

// A sweep reads about one page of its query for each post, not one row for each comment. Its
// executions are short, because others wait for them.
func TestSweepReadsOnePageForEachPost(t *testing.T) {
	const posts, comments = 3, 1000
	w := newWorld(t)
	writer := &blog.User{ID: "u_writer", Username: "writer", Revision: 2}
	author := &blog.User{ID: "u_a", Username: "anna", Revision: 2}
	date := blog.NewDateTime(w.Clock.Now())
	for i := range posts {
		thread := bulk.Thread{Post: &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: author, Content: "…", CreationDate: date}}
		for n := range comments {
			thread.Comments = append(thread.Comments, &blog.Comment{ID: fmt.Sprintf("c_%d", n), Author: writer, Content: "…", CreationDate: date})
		}
		_, err := w.WriteThread(t.Context(), thread)
		w.OK(err)
	}
	w.Wire.Inject(nil)
	sweep := chores.Sweep{UserID: writer.ID, Username: "rewriter", AuthorRevision: 4}
	updated, err := chores.Run(t.Context(), w.SweepPass(sweep))
	w.OK(err)
	executions := w.executions()
	pages := len(w.Wire.Requests()) - executions
	if updated != posts*(comments+1) || pages > posts+2 || w.remaining(sweep) != 0 {
		t.Errorf("%d items updated after %d pages, %d are left", updated, pages, w.remaining(sweep))
	}
	if want := posts * (1 + (comments-20+29)/30); executions != want {
		t.Errorf("%d executions instead of %d: one for twenty comments, and one for each thirty after them", executions, want)
	}
}

// Each sweep keeps what the one before was charged, until its own first pass is done.
func TestSweepKeepsCharge(t *testing.T) {
	w := newWorld(t)
	stored := func() *chores.Sweep {
		t.Helper()
		sweep, _, err := cosmos.Read[chores.Sweep](w.Ctx(), w.Container(schema.Leases), schema.SweepID("u_a"), schema.SweepID("u_a"))
		w.OK(err)
		return sweep
	}
	for i, step := range []struct {
		does   string
		charge float64 // of a pass that ends; 0 if a rename is recorded
		last   bool    // the rename is recorded while another one is in progress
		want   float64
	}{
		{"a first rename", 0, false, 0},
		{"its first pass", 100, false, 100},
		{"its last pass", 7, false, 107},
		{"a second rename", 0, false, 107},
		{"a third one", 0, false, 107},
		{"their first pass", 50, false, 50},
		{"a fourth one meanwhile", 0, false, 50},
		{"its first pass", 60, false, 60},
		{"its last pass", 8, false, 68},
		{"an interrupted rename", 0, true, 68},
		{"its only pass", 5, false, 68},
	} {
		if step.charge == 0 {
			w.OK(w.RecordSweep(w.Ctx(), chores.Sweep{UserID: "u_a", Username: "anna", AuthorRevision: int64(i + 3), Last: step.last}))
		} else {
			w.OK(w.FinishSweepPass(w.Ctx(), *stored(), step.charge))
		}
		if got := stored().Charge; got != step.want {
			t.Errorf("after %s, the charge is %v instead of %v", step.does, got, step.want)
		}
	}
}
