package projector_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// run runs a projector in real time until stop is called. stop waits for its end.
func (w *world) run(s *storetest.Database, change ...func(*projector.Options)) (p *projector.Projector, stop func()) {
	w.Helper()
	p = w.projector(s, append(change, func(o *projector.Options) { o.Now, o.Sleep = nil, nil })...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return p, func() {
		w.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.Errorf("Run: %v", err)
		}
	}
}

// until waits until a condition holds, or fails the test after 20 s.
func (w *world) until(holds func() bool) {
	w.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	late := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-look.C:
		case <-late:
			w.Fatal("timeout")
		}
	}
}

func (w *world) feedShows(post *blog.Post, likes int) func() bool {
	return func() bool {
		page, err := w.store.Feed(w.Context(), blog.PageRequest{First: 1})
		if err != nil {
			w.Fatal(err)
		}
		return len(page.Items) == 1 && page.Items[0].ID == post.ID && page.Items[0].LikeCount == likes
	}
}

// wakeOnly enables wake-up signals and, in effect, disables polling.
func (w *world) wakeOnly(o *projector.Options) { o.Wake, o.Poll = w.wake, time.Hour }

// Writes wake the projector.
func TestWritesWakeProjector(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	p, stop := w.run(w.store, w.wakeOnly)
	defer stop()
	for range 20 {
		post := w.post(anna)
		w.until(w.feedShows(post, 0))
		w.like(anna, post)
		w.until(w.feedShows(post, 1))
	}
	if feeds := p.Feeds(); len(feeds) != 2 {
		t.Errorf("works on %+v", feeds)
	}
}

// Without Wake, the projector polls.
func TestPolling(t *testing.T) {
	w := newWorld(t)
	_, stop := w.run(w.store, func(o *projector.Options) { o.Poll = time.Millisecond })
	defer stop()
	post := w.post(w.user())
	w.until(w.feedShows(post, 0))
}

// A projector releases its leases at its end, with their checkpoints.
func TestLeasesAreReleasedAtEnd(t *testing.T) {
	w := newWorld(t)
	p, stop := w.run(w.store, w.wakeOnly)
	w.post(w.user())
	w.until(func() bool { // the post is projected
		return slices.ContainsFunc(p.Feeds(), func(l changefeed.Lease) bool { return l.Container == schema.Posts && l.Continuation != "" })
	})
	stop()
	leases, err := w.store.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, lease := range leases {
		if lease.Owner != "" {
			t.Errorf("%s is still owned by %s", lease.ID, lease.Owner)
		}
		if lease.Container == schema.Posts && lease.Continuation == "" {
			t.Errorf("%s has no checkpoint", lease.ID)
		}
	}
	if len(leases) != 5 { // of users, posts, the sweeper, the deleter and the purger
		t.Errorf("%d leases", len(leases))
	}
}

// Failures of the database are retried without limit.
func TestDatabaseFailuresAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		wire, s := w.wired()
		failures := 0
		over := make(chan struct{})
		wire.refuse = func(request *http.Request) int {
			if containerOf(request) != "feed" || failures > 10 {
				return 0
			}
			if failures++; failures == 10 {
				close(over)
			}
			return http.StatusInternalServerError
		}
		_, stop := w.run(s, func(o *projector.Options) { o.Parallel = 1 }, w.wakeOnly)
		defer stop()
		post := w.post(w.user())
		<-over
		w.until(w.feedShows(post, 0))
	})
}

// The leases of a dead projector can be taken when they have not changed for Expire, and not
// earlier.
func TestLeasesOfDeadProjectorExpire(t *testing.T) {
	w := newWorld(t)
	post := w.post(w.user())
	wire, s := w.wired()
	dead := w.projector(s)
	wire.refuse = func(request *http.Request) int {
		if strings.HasSuffix(request.URL.Path, "/posts/docs") {
			wire.left.Store(0)
		}
		return 0
	}
	if dead.SettleForTests(t.Context()) == nil {
		t.Fatal("the projector did not die")
	}
	heir := w.projector(w.store, func(o *projector.Options) { o.TakeOver = false })
	for _, step := range []struct {
		advance time.Duration
		ok      bool
	}{{0, false}, {20*time.Second - 1, false}, {1, true}} {
		w.clock.Advance(step.advance)
		if err := heir.SettleForTests(t.Context()); (err == nil) != step.ok {
			t.Errorf("after %v more: %v", step.advance, err)
		}
	}
	if !w.feedShows(post, 0)() {
		t.Error("the post is not in the feed")
	}
}

// A projector whose leases are taken stops writing. When they are free again, it continues.
func TestWorkerStopsOnLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		anna := w.user()
		loser := w.members(1, w.wakeOnly)[0]
		defer loser.stop()
		first := w.post(anna)
		advanceTime(renew)
		w.setOwner("another")
		for len(loser.Feeds()) > 0 { // until it lists the leases
			advanceTime(time.Second)
		}
		before := loser.wire.writesTo("feed")
		post := w.post(anna)
		advanceTime(time.Second)
		if !w.feedShows(first, 0)() || len(loser.Feeds()) > 0 || loser.wire.writesTo("feed") != before {
			t.Errorf("%d writes without a lease: %+v", loser.wire.writesTo("feed")-before, w.owners())
		}
		w.setOwner("")
		advanceTime(time.Minute)
		if !w.feedShows(post, 0)() {
			t.Error("the projector does not continue")
		}
	})
}

// setOwner sets the owner of all leases.
func (w *world) setOwner(owner string) {
	w.Helper()
	w.until(func() bool {
		leases, err := w.store.Leases(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		for i := range leases {
			leases[i].Owner = owner
			_, lost := w.store.SaveLease(w.Context(), leases[i])
			err = errors.Join(err, lost) // fails if the owner renews the lease first
		}
		return err == nil
	})
}

// All changes of a recreated container are projected, even if the checkpoint of the former one
// was further.
func TestRecreatedContainer(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 50)
	w.settle()
	w.recreate(schema.Posts)
	post := w.posts(anna, 3)[2]
	w.settle()
	mine, err := w.store.UserPosts(t.Context(), anna.ID, blog.PageRequest{First: 3})
	if err != nil || mine.Items[0].ID != post.ID {
		t.Errorf("the newest post is %+v, %v", mine.Items[0], err)
	}
	wire, s := w.wired()
	if err := w.projector(s).SettleForTests(t.Context()); err != nil || wire.writesTo("users") != 0 {
		t.Errorf("read again: %d writes, %v", wire.writesTo("users"), err)
	}
}
