//go:build ci

package projector_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/audit"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// rebuild rebuilds all views of the world, without a projector.
func (w *world) rebuild(change ...func(*rebuilding)) audit.Rebuilt {
	w.Helper()
	rebuilt, err := w.tryRebuild(change...)
	if err != nil {
		w.Fatalf("rebuild: %v", err)
	}
	if rebuilt.Left != 0 || rebuilt.Unstable != 0 {
		w.Errorf("rebuild: %+v", rebuilt)
	}
	return rebuilt
}

// rebuilding is a rebuild of a database.
type rebuilding struct {
	audit.Options
	Store *storetest.Database
	Sleep sleeper
}

// left returns audit.Options.Found that calls f for what was not corrected.
func left(f func(audit.Drift)) func(audit.Drift, bool) {
	return func(d audit.Drift, corrected bool) {
		if !corrected {
			f(d)
		}
	}
}

func (w *world) tryRebuild(change ...func(*rebuilding)) (audit.Rebuilt, error) {
	r := &rebuilding{Store: w.store, Sleep: noSleep}
	r.Found = left(func(d audit.Drift) { w.Errorf("not repaired: %s %+v", driftText(d), d) })
	for _, f := range change {
		f(r)
	}
	return audit.Rebuild(withSleep(w.Context(), r.Sleep), r.Store.DB, r.Options)
}

// A rebuild repairs any damage. Each run tests a random selection, and one damage that needs many
// posts, or all damages if -stride is 1.
func TestRebuildRepairs(t *testing.T) {
	random := rand.New(rand.NewPCG(testseed.Of(t), 0))
	names := slices.Sorted(maps.Keys(damages))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	slices.SortStableFunc(names, func(a, b string) int { return damages[b].posts - damages[a].posts })
	few := slices.IndexFunc(names, func(name string) bool { return damages[name].posts == 0 })
	if *strideFlag > 1 {
		names = slices.Concat(names[few:few+3], names[:1])
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a damaged item may take many retries
				s := newScene(t, damages[name].posts)
				damages[name].plant(s)
				if rebuilt := s.rebuild(); rebuilt.Differed == 0 || rebuilt.Since != "" {
					t.Errorf("%+v", rebuilt)
				}
				s.wantNoDrift()
				s.wantViewsEqualSource()
			})
		})
	}
}

// If views are lost altogether, a rebuild writes all of them, on one feed range and on many,
// even if no projector saw the posts. It does not write existing views again. Unless -stride is 1,
// each run tests one number of feed ranges.
func TestRebuildWritesAllViews(t *testing.T) {
	for _, ranges := range someOf(t, rangeCounts, 1) {
		w := newWorldOf(t, ranges)
		simulate(w, testseed.Of(t), *operationsFlag/2)
		anna := w.user()
		w.posts(anna, 230)
		for _, lost := range []bool{false, true} {
			if lost {
				w.settle()
				w.recreate("feed")
				w.recreate("leases")
			}
			w.rebuild(func(r *rebuilding) { r.PageSize = 100 })
			feed, err := w.store.Feed(t.Context(), blog.PageRequest{First: blog.MaxPageSize})
			if err != nil || len(feed.Items) != blog.FeedLength {
				t.Errorf("the feed has %d posts, %v", len(feed.Items), err)
			}
			if user, err := w.store.User(t.Context(), anna.ID); err != nil || user.PostCount != 230 {
				t.Errorf("%+v, %v", user, err)
			}
			wire, s := w.wired()
			if rebuilt := w.rebuild(func(r *rebuilding) { r.Store = s }); rebuilt.Differed != 0 {
				t.Errorf("second rebuild: %+v", rebuilt)
			}
			if n := len(wire.writes) - wire.writesTo("leases"); n != 0 {
				t.Errorf("%d writes", n)
			}
		}
		w.settle()
		w.wantNoDrift()
		w.wantViewsEqualSource()
	}
}

// combinedDamages can be planted together in one scene. The tombstone comes last, because others
// plant copies of the item that it replaces.
var combinedDamages = []string{
	"both counts", "a comment without a post", "a like of a deleted post", "a copy from the future",
	"a copy in another user's partition", "a second copy", "no reservation", "a reservation of a missing user", "a copy missing in the feed", "a copy below the horizon",
	"a deleted post in the feed", "a second copy in the feed", "a horizon too low", "a tombstone of a live post",
}

// Beside writers and a projector, a rebuild repairs damage and causes none. Readers never see
// an empty list meanwhile.
func TestRebuildBesideARunningSystem(t *testing.T) {
	seed := testseed.Of(t)
	s := newScene(t, manyPosts)
	for _, name := range combinedDamages {
		damages[name].plant(s)
	}
	p, stop := s.run(s.store, func(o *projector.Options) {
		o.Wake, o.Renew, o.Balance = s.wake, 100*time.Millisecond, 100*time.Millisecond
	})
	written := make(chan struct{})
	go func() {
		defer close(written)
		simulate(s.world, seed, *operationsFlag/2)
	}()
	reads := atomic.Int64{}
	watched := s.open(afterEach{inprocess.To(s.engine), func(request *http.Request) {
		if container := containerOf(request); isWrite(request) && (container == "users" || container == "feed") {
			reads.Add(1)
			s.readLists()
		}
	}})
	rebuilds := 0
	for running := true; running; rebuilds++ {
		s.rebuild(func(r *rebuilding) {
			r.Store, r.PageSize = watched, 100
			r.Sleep = func(ctx context.Context, _ time.Duration) error { return s.untilSaved(ctx, p) }
		})
		select {
		case <-written:
			running = false
		default:
		}
	}
	t.Logf("%d rebuilds, %d reads", rebuilds, reads.Load())
	stop()
	s.settle()
	s.wantNoDrift()
	s.wantViewsEqualSource()
}

// afterEach is a transport that calls do after each request.
type afterEach struct {
	next policy.Transporter
	do   func(*http.Request)
}

func (a afterEach) Do(request *http.Request) (*http.Response, error) {
	answer, err := a.next.Do(request)
	a.do(request)
	return answer, err
}

// readLists checks the lengths of lists that are never short.
func (s *scene) readLists() {
	feed, err := s.store.Feed(s.Context(), blog.PageRequest{First: blog.MaxPageSize})
	if err != nil || len(feed.Items) < blog.FeedLength-1 { // one missing copy was planted
		s.Errorf("the feed shows %d posts, %v", len(feed.Items), err)
	}
	mine, err := s.store.UserPosts(s.Context(), s.anna.ID, blog.PageRequest{First: 20})
	if err != nil || len(mine.Items) < 20 {
		s.Errorf("anna's list shows %d posts, %v", len(mine.Items), err)
	}
}

// A rebuild that dies at any request is continued by the next one, which leaves nothing undone.
func TestInterruptedRebuilds(t *testing.T) {
	random := rand.New(rand.NewPCG(testseed.Of(t), 0))
	names := slices.Sorted(maps.Keys(damages))
	names = slices.DeleteFunc(names, func(name string) bool { return damages[name].posts > 0 })
	for at, died := firstCrash(t), true; died; at += *strideFlag {
		s := newScene(t, 0)
		name := names[random.IntN(len(names))]
		damages[name].plant(s)
		wire, cut := s.wiredWithoutDelays()
		wire.answerLost = random.IntN(2) == 0
		wire.left.Store(at)
		few := func(r *rebuilding) { r.PageSize = 2 }
		_, err := s.tryRebuild(few, func(r *rebuilding) { r.Store = cut })
		died = err != nil
		s.rebuild(few)
		s.wantNoDrift()
		s.wantViewsEqualSource()
		if t.Failed() {
			t.Fatalf("%s: died at request %d", name, at)
		}
	}
}

// A rebuild ends however often it is interrupted, as long as it reaches the next checkpoint
// each time.
func TestRebuildResumes(t *testing.T) {
	s := newScene(t, 12)
	damages["both counts"].plant(s)
	damages["a copy without a post"].plant(s)
	began := blog.NewDateTime(time.Now())
	runs := 0
	for done := false; !done; runs++ {
		wire, cut := s.wiredWithoutDelays()
		wire.left.Store(80)
		var first *follow.Progress
		rebuilt, err := s.tryRebuild(func(r *rebuilding) {
			r.Store, r.PageSize, r.Parallel = cut, 1, 1
			r.Progress = func(p follow.Progress) {
				if first == nil {
					first = &p
				}
			}
		})
		done = err == nil
		if first != nil && first.Done == 0 && rebuilt.Since != "" || rebuilt.Since != "" && rebuilt.Since < began {
			t.Errorf("run %d: %+v, %+v", runs, first, rebuilt)
		}
		if runs > 100 {
			t.Fatal("the rebuild does not end")
		}
	}
	if runs < 3 {
		t.Errorf("the rebuild ended after %d runs", runs)
	}
	s.wantNoDrift()
	s.wantViewsEqualSource()
	if rebuilt := s.rebuild(); rebuilt.Since != "" || rebuilt.Posts == 0 {
		t.Errorf("another rebuild: %+v", rebuilt)
	}
}

// A later rebuild takes over from a running one. A checkpoint of an interrupted rebuild is not
// used if the next one starts from the beginning, or if the container was recreated.
func TestConcurrentRebuilds(t *testing.T) {
	s := newScene(t, 9)
	few := func(r *rebuilding) { r.PageSize = 2 }
	once := func(f func()) func(follow.Progress) {
		calls := 0
		return func(follow.Progress) {
			if calls++; calls == 4 {
				f()
			}
		}
	}
	_, err := s.tryRebuild(few, func(r *rebuilding) { r.Progress = once(func() { s.rebuild(few) }) })
	if !errors.Is(err, audit.ErrRebuildTaken) {
		t.Errorf("beside a completed rebuild: %v", err)
	}

	half := func() {
		ctx, cancel := context.WithCancel(t.Context())
		options := audit.Options{PageSize: 2, Progress: once(cancel)}
		if _, err := audit.Rebuild(ctx, s.store.DB, options); err == nil {
			t.Error("the rebuild was not interrupted")
		}
	}
	half()
	if rebuilt := s.rebuild(few); rebuilt.Since == "" || rebuilt.Posts >= 10 {
		t.Errorf("resumed: %+v", rebuilt)
	}
	half()
	if rebuilt := s.rebuild(few, func(r *rebuilding) { r.FromStart = true }); rebuilt.Since != "" || rebuilt.Posts < 10 {
		t.Errorf("from the start: %+v", rebuilt)
	}
	half()
	s.recreate("posts")
	if rebuilt := s.rebuild(few); rebuilt.Posts != 0 {
		t.Errorf("after posts was recreated: %+v", rebuilt)
	}
	if mine, err := s.store.UserPosts(t.Context(), s.anna.ID, blog.PageRequest{First: 9}); err != nil || len(mine.Items) != 0 {
		t.Errorf("anna's list has %d posts without a source, %v", len(mine.Items), err)
	}
}

// If a feed range is split repeatedly during a rebuild or an audit, all parts are read to their
// ends.
func TestSplitsDuringRebuild(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	posts := w.posts(anna, 120)
	for _, audited := range []bool{false, true} {
		calls, id := 0, 0
		if audited {
			id = 4 // 0 was split into 1 and 2, 1 into 3 and 4
		}
		splits := func(follow.Progress) {
			if calls++; calls == 3 || calls == 6 {
				w.split("posts", id)
				w.post(anna) // moves the end of a range
				id++
			}
		}
		seen := int64(0)
		if audited {
			_, a := w.audit(func(a *auditing) { a.PageSize, a.Progress = 10, splits })
			seen = a.Posts
		} else {
			seen = w.rebuild(func(r *rebuilding) { r.PageSize, r.Progress = 10, splits }).Posts
		}
		if calls < 6 || seen < int64(len(posts)) {
			t.Errorf("saw %d posts in %d pages", seen, calls)
		}
	}
	w.settle()
	w.wantNoDrift()
	w.wantViewsEqualSource()
}

// A rebuild reports the drifts that it cannot repair, and repairs the others.
func TestRebuildReportsUnrepaired(t *testing.T) {
	s := newScene(t, 0)
	damages["a second copy"].plant(s)
	damages["a copy from the future"].plant(s) // of the first post
	damages["a missing copy"].plant(s)         // of the second
	damages["a comment's name in the same revision"].plant(s)
	damages["a like's author revision"].plant(s) // beside the comment
	s.changePost(s.posts[2], item{"likeCount": "many"})
	wire, refused := s.wiredWithoutDelays()
	wire.refuse = func(request *http.Request) int {
		if path := request.URL.Path; isWrite(request) && (strings.HasSuffix(path, "users/docs/"+s.posts[0].ID) || strings.HasSuffix(path, s.comment.ID)) {
			return http.StatusRequestTimeout
		}
		return 0
	}
	found := map[string]bool{}
	rebuilt, err := s.tryRebuild(func(r *rebuilding) {
		r.Store, r.Found = refused, left(func(d audit.Drift) { found[d.ID] = true })
	})
	want := map[string]bool{s.posts[0].ID: true, s.comment.ID: true, s.posts[2].ID: true}
	if err != nil || rebuilt.Left == 0 || !maps.Equal(found, want) {
		t.Errorf("%+v, %v: %v, not %v", rebuilt, err, found, want)
	}
	drifts, _ := s.audit()
	for _, drift := range drifts {
		if id := strings.Fields(drift)[2]; !want[id] {
			t.Errorf("not repaired: %s", drift)
		}
	}
}

// TestRebuildOfLaterNames loses renames of a user whose posts keep them. A rename that comes next
// has an earlier revision, so its sweep, which is pending, does not write these posts. A rebuild
// does.
func TestRebuildOfLaterNames(t *testing.T) {
	w := newLosingWorld(t, 1)
	anna := w.user()
	post := w.posts(anna, 1)[0]
	w.engine.Follower.Lead()
	w.rename(anna)
	w.rename(anna)
	w.settle()
	w.engine.LoseWrites(schema.Users, schema.Usernames)
	renamed := w.rename(anna)
	sweep := chores.Sweep{UserID: anna.ID, Username: renamed.Username, AuthorRevision: renamed.Revision, History: "later"}
	w.must(w.store.RecordSweep(t.Context(), sweep))
	_, err := audit.Rebuild(t.Context(), w.store.DB, audit.Options{})
	w.must(err)
	if got, err := w.store.Post(t.Context(), post.ID); err != nil || got.Author.Username != renamed.Username {
		t.Errorf("the post is of %+v, %v, want %s", got.Author, err, renamed.Username)
	}
}

// TestSlowRebuild rebuilds at so low a limit that a request must wait for longer than a step may.
func TestSlowRebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLosingWorld(t, 1)
		_, stop := w.run(w.store, func(o *projector.Options) {
			db := o.DB
			o.Poll = time.Second
			o.Rebuild = func(ctx context.Context, _ string) error {
				limit := &cosmos.ChargeLimit{PerSecond: 1}
				_, err := audit.Rebuild(limit.Context(ctx), db, audit.Options{FromStart: true})
				return err
			}
		})
		defer stop()
		w.posts(w.user(), 60)
		time.Sleep(20 * time.Second)
		if _, err := w.store.EndHistory(t.Context(), "", "an operator said so"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if history, err := w.store.History(t.Context()); err != nil || !history.IsRebuilt {
			t.Errorf("the history is %+v, %v", history, err)
		}
	})
}
