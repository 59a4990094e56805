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

	"cosmosblog/internal/blog"
	"cosmosblog/projector"
	"cosmosblog/store"
)

// rebuild makes all views of the world anew, without a projector.
func (w *world) rebuild(change ...func(*store.Rebuilding)) store.Rebuilt {
	w.Helper()
	rebuilt, err := w.tryRebuild(change...)
	if err != nil {
		w.Fatalf("rebuild: %v", err)
	}
	if rebuilt.Left != 0 || rebuilt.Restless != 0 {
		w.Errorf("rebuild: %+v", rebuilt)
	}
	return rebuilt
}

func (w *world) tryRebuild(change ...func(*store.Rebuilding)) (store.Rebuilt, error) {
	r := &store.Rebuilding{
		Store: w.store,
		Left:  func(d store.Drift) { w.Errorf("left: %s", driftText(d)) },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	for _, f := range change {
		f(r)
	}
	return r.Run(w.Context())
}

// Whatever is damaged is right after a rebuild: some kinds each time, and one that needs many posts.
func TestRebuildMends(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 0))
	names := slices.Sorted(maps.Keys(damages))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	slices.SortStableFunc(names, func(a, b string) int { return damages[b].posts - damages[a].posts })
	few := slices.IndexFunc(names, func(name string) bool { return damages[name].posts == 0 })
	for _, name := range slices.Concat(names[few:few+12], names[:1]) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a damaged item may take many retries
				s := newScene(t, damages[name].posts)
				damages[name].plant(s)
				if rebuilt := s.rebuild(); rebuilt.Differed == 0 || rebuilt.Since != "" {
					t.Errorf("%+v", rebuilt)
				}
				s.clean()
				s.check()
			})
		})
	}
}

// Of views that are lost altogether, all are made, on one feed range and on many, though no projector ever saw the posts; and what is
// there is not written again.
func TestRebuildMakesAllViews(t *testing.T) {
	for _, ranges := range rangeCounts {
		w := newWorldOf(t, ranges)
		simulate(w, seed(t), 300)
		anna := w.user()
		w.posts(anna, 230)
		for _, lost := range []bool{false, true} {
			if lost {
				w.settle()
				w.recreate("feed")
				w.recreate("leases")
			}
			w.rebuild(func(r *store.Rebuilding) { r.PageSize = 100 })
			feed, err := w.store.Feed(t.Context(), blog.PageRequest{First: blog.MaxPageSize})
			if err != nil || len(feed.Items) != blog.FeedLength {
				t.Errorf("the feed has %d posts, %v", len(feed.Items), err)
			}
			if user, err := w.store.User(t.Context(), anna.ID); err != nil || user.PostCount != 230 {
				t.Errorf("%+v, %v", user, err)
			}
			wire, s := w.wired()
			if rebuilt := w.rebuild(func(r *store.Rebuilding) { r.Store = s }); rebuilt.Differed != 0 {
				t.Errorf("again: %+v", rebuilt)
			}
			if n := len(wire.writes) - wire.writesTo("leases"); n != 0 {
				t.Errorf("%d writes", n)
			}
		}
		w.settle()
		w.clean()
		w.check()
	}
}

// amid are damages that a scene may have at the same time.
var amid = []string{
	"both counts", "a comment without a post", "a like of a deleted post", "a copy from the future", "a tombstone of a live post",
	"a copy at somebody else's", "a second copy", "no reservation", "a reservation of nobody", "a copy that the feed lacks", "an old post in the feed",
	"a deleted post in the feed", "a second copy in the feed", "a horizon too low",
}

// Beside writers and a projector, a rebuild mends what is damaged and damages nothing, and whoever reads meanwhile never sees an
// empty list.
func TestRebuildBesideARunningSystem(t *testing.T) {
	seed := seed(t)
	s := newScene(t, long)
	for _, name := range amid {
		damages[name].plant(s)
	}
	_, stop := s.run(s.store, func(o *projector.Options) {
		o.Wake, o.Renew, o.Balance = s.wake, 100*time.Millisecond, 100*time.Millisecond
	})
	written := make(chan struct{})
	go func() {
		defer close(written)
		simulate(s.world, seed, *operationsFlag/4)
	}()
	reads := atomic.Int64{}
	watched := s.open(after{store.InProcess(s.engine), func(request *http.Request) {
		if container := containerOf(request); isWrite(request) && (container == "users" || container == "feed") {
			reads.Add(1)
			s.readLists()
		}
	}})
	rebuilds := 0
	for running := true; running; rebuilds++ {
		s.rebuild(func(r *store.Rebuilding) {
			r.Store, r.PageSize, r.Sleep = watched, 100, s.untilRenewed
			r.Left = func(d store.Drift) { t.Errorf("left: %s %+v", driftText(d), d) }
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
	s.clean()
	s.check()
}

// after is a transport that does something after each request.
type after struct {
	next policy.Transporter
	do   func(*http.Request)
}

func (a after) Do(request *http.Request) (*http.Response, error) {
	answer, err := a.next.Do(request)
	a.do(request)
	return answer, err
}

// readLists reads lists that have never been short.
func (s *scene) readLists() {
	feed, err := s.store.Feed(s.Context(), blog.PageRequest{First: blog.MaxPageSize})
	if err != nil || len(feed.Items) < blog.FeedLength-1 { // one was planted
		s.Errorf("the feed shows %d posts, %v", len(feed.Items), err)
	}
	mine, err := s.store.UserPosts(s.Context(), s.anna.ID, blog.PageRequest{First: 20})
	if err != nil || len(mine.Items) < 20 {
		s.Errorf("anna's list shows %d posts, %v", len(mine.Items), err)
	}
}

// A rebuild that dies at any of its requests goes on where it was, and leaves nothing undone.
func TestRebuildsDie(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 0))
	names := slices.Sorted(maps.Keys(damages))
	names = slices.DeleteFunc(names, func(name string) bool { return damages[name].posts > 0 })
	for at, died := firstCrash(), true; died; at += *strideFlag {
		s := newScene(t, 0)
		name := names[random.IntN(len(names))]
		damages[name].plant(s)
		wire, cut := s.impatient()
		wire.answerLost = random.IntN(2) == 0
		wire.left.Store(at)
		few := func(r *store.Rebuilding) { r.PageSize = 2 }
		_, err := s.tryRebuild(few, func(r *store.Rebuilding) { r.Store = cut })
		died = err != nil
		s.rebuild(few)
		s.clean()
		s.check()
		if t.Failed() {
			t.Fatalf("%s: died at request %d", name, at)
		}
	}
}

// However soon it is broken off each time, as long as it comes to the next checkpoint, a rebuild ends.
func TestRebuildsGoOn(t *testing.T) {
	s := newScene(t, 12)
	damages["both counts"].plant(s)
	damages["a copy without a post"].plant(s)
	began := blog.NewDateTime(time.Now())
	runs := 0
	for done := false; !done; runs++ {
		wire, cut := s.impatient()
		wire.left.Store(110)
		var first *store.AuditProgress
		rebuilt, err := s.tryRebuild(func(r *store.Rebuilding) {
			r.Store, r.PageSize, r.Parallel = cut, 1, 1
			r.Progress = func(p store.AuditProgress) {
				if first == nil {
					first = &p
				}
			}
		})
		done = err == nil
		if first != nil && (first.Done > 0) != (rebuilt.Since != "") || rebuilt.Since != "" && rebuilt.Since < began {
			t.Errorf("run %d: %+v, %+v", runs, first, rebuilt)
		}
		if runs > 100 {
			t.Fatal("it never ends")
		}
	}
	if runs < 3 {
		t.Errorf("it ended after %d runs", runs)
	}
	s.clean()
	s.check()
	if rebuilt := s.rebuild(); rebuilt.Since != "" || rebuilt.Posts == 0 {
		t.Errorf("another: %+v", rebuilt)
	}
}

// Whoever begins takes the rebuild over, and of a rebuild that was broken off nothing is left where the next is to begin at the
// start, or its container was made anew.
func TestRebuildsMeet(t *testing.T) {
	s := newScene(t, 9)
	few := func(r *store.Rebuilding) { r.PageSize = 2 }
	once := func(f func()) func(store.AuditProgress) {
		calls := 0
		return func(store.AuditProgress) {
			if calls++; calls == 4 {
				f()
			}
		}
	}
	_, err := s.tryRebuild(few, func(r *store.Rebuilding) { r.Progress = once(func() { s.rebuild(few) }) })
	if !errors.Is(err, store.ErrRebuildTaken) {
		t.Errorf("beside one that came to its end: %v", err)
	}

	half := func() {
		ctx, cancel := context.WithCancel(t.Context())
		r := store.Rebuilding{Store: s.store, PageSize: 2, Progress: once(cancel)}
		if _, err := r.Run(ctx); err == nil {
			t.Error("it was not broken off")
		}
	}
	half()
	if rebuilt := s.rebuild(few); rebuilt.Since == "" || rebuilt.Posts >= 10 {
		t.Errorf("from there: %+v", rebuilt)
	}
	half()
	if rebuilt := s.rebuild(few, func(r *store.Rebuilding) { r.FromStart = true }); rebuilt.Since != "" || rebuilt.Posts < 10 {
		t.Errorf("from the start: %+v", rebuilt)
	}
	half()
	s.recreate("posts")
	if rebuilt := s.rebuild(few); rebuilt.Posts != 0 {
		t.Errorf("of other posts: %+v", rebuilt)
	}
	if mine, err := s.store.UserPosts(t.Context(), s.anna.ID, blog.PageRequest{First: 9}); err != nil || len(mine.Items) != 0 {
		t.Errorf("there are no posts, and anna has %d, %v", len(mine.Items), err)
	}
}

// Where a feed range is split in the middle, again and again, both parts are read to their ends by a rebuild and by an audit.
func TestSplitsAmidARebuild(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	posts := w.posts(anna, 120)
	for _, audited := range []bool{false, true} {
		calls, id := 0, 0
		if audited {
			id = 4 // 0 was split into 1 and 2, 1 into 3 and 4
		}
		splits := func(store.AuditProgress) {
			if calls++; calls == 3 || calls == 6 {
				w.split("posts", id)
				w.post(anna) // moves an end
				id++
			}
		}
		seen := int64(0)
		if audited {
			_, a := w.audit(func(a *store.Auditing) { a.PageSize, a.Progress = 10, splits })
			seen = a.Posts
		} else {
			seen = w.rebuild(func(r *store.Rebuilding) { r.PageSize, r.Progress = 10, splits }).Posts
		}
		if calls < 6 || seen < int64(len(posts)) {
			t.Errorf("saw %d posts in %d pages", seen, calls)
		}
	}
	w.settle()
	w.clean()
	w.check()
}

// What cannot be made right is told, and holds nothing else up.
func TestWhatARebuildLeaves(t *testing.T) {
	s := newScene(t, 0)
	damages["a second copy"].plant(s)
	damages["a copy from the future"].plant(s) // of the first post
	damages["a copy that is gone"].plant(s)    // of the second
	damages["a comment's name in the same revision"].plant(s)
	damages["a like's author revision"].plant(s) // beside the comment
	s.changePost(s.posts[2], item{"likeCount": "many"})
	wire, hindered := s.impatient()
	wire.refuse = func(request *http.Request) int {
		if path := request.URL.Path; isWrite(request) && (strings.HasSuffix(path, "users/docs/"+s.posts[0].ID) || strings.HasSuffix(path, s.comment.ID)) {
			return http.StatusRequestTimeout
		}
		return 0
	}
	left := map[string]bool{}
	rebuilt, err := s.tryRebuild(func(r *store.Rebuilding) {
		r.Store, r.Left = hindered, func(d store.Drift) { left[d.ID] = true }
	})
	want := map[string]bool{s.posts[0].ID: true, s.comment.ID: true, s.posts[2].ID: true}
	if err != nil || rebuilt.Left == 0 || !maps.Equal(left, want) {
		t.Errorf("%+v, %v: %v, not %v", rebuilt, err, left, want)
	}
	drifts, _ := s.audit()
	for _, drift := range drifts {
		if id := strings.Fields(drift)[2]; !want[id] {
			t.Errorf("drifts still: %s", drift)
		}
	}
}
