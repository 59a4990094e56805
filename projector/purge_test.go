package projector_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/faults"
	"cosmosblog/projector"
	"cosmosblog/store"
)

// liked makes a post of somebody that n others like.
func (w *world) liked(author *blog.User, n int) *blog.Post {
	w.Helper()
	date := blog.NewDateTime(time.Now())
	thread := store.Thread{Post: &blog.Post{ID: fmt.Sprintf("p_liked_%d", w.names.Add(1)), Author: author, Title: "A title", Content: "…", CreationDate: date}}
	for i := range n {
		thread.Likes = append(thread.Likes, &blog.Like{User: liker(i), CreationDate: date})
	}
	post, err := w.store.WriteThread(w.Context(), thread)
	if err != nil {
		w.Fatal(err)
	}
	return post
}

func (w *world) purges() int {
	w.Helper()
	purges, err := w.store.Purges(w.Context(), math.MaxInt)
	if err != nil {
		w.Fatal(err)
	}
	return len(purges)
}

func (w *world) expires(post *blog.Post) bool {
	w.Helper()
	change, err := w.store.Change(w.Context(), store.PostsContainer, post.ID, post.ID)
	if err != nil {
		w.Fatal(err)
	}
	return change.Expires
}

// isInOrder holds a deleted post to the order of what follows: no purge before its copies are gone, and no ttl before its likes are.
func (w *world) isInOrder(post *blog.Post) {
	w.Helper()
	likes, err := w.store.Likes(w.Context(), post.ID, blog.PageRequest{First: 1})
	if err != nil {
		w.Fatal(err)
	}
	if len(likes.Items) > 0 && w.expires(post) {
		w.Error("the post expires, and has likes")
	}
	feed, err := w.store.Feed(w.Context(), blog.PageRequest{First: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, shown := range feed.Items {
		if shown.ID == post.ID && (w.purges() > 0 || w.expires(post)) {
			w.Error("the feed shows the post, and its purge has begun")
		}
	}
}

// isPurge tells of a request that deletes a page of comments and likes.
func isPurge(request *http.Request) bool {
	return containerOf(request) == "posts" && request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != ""
}

// While a post is purged that very many liked, its feed range goes on: a like of another post shows in the feed as ever, and
// what is purged after it comes to its end before it. Where throughput is short, the purge gives way; then it hurries.
func TestAFeedRangeGoesOnBesideAPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 1)
		author := w.user()
		big, small := w.liked(author, *sweptFlag), w.liked(author, 250)
		w.settle()
		post := w.post(author)
		slow := &wire{next: store.InProcess(w.engine), refuse: slowly(isPurge)}
		slow.left.Store(1 << 62)
		far := &distant{next: slow}
		road := &road{plenty: far, short: &faults.Budget{Next: far, PerSecond: 400, Now: time.Now}}
		p, stop := w.run(w.open(road), alone, func(o *projector.Options) { o.Wake, o.Poll = w.wake, time.Second })
		defer stop()
		pass(balance)
		likes := 0
		slowestOf := func(n int) (slowest time.Duration) {
			for range n {
				begun := time.Now()
				w.like(w.user(), post)
				likes++
				w.until(w.feedShows(post, likes))
				slowest = max(slowest, time.Since(begun))
				pass(300 * time.Millisecond)
			}
			return slowest
		}

		w.delete(big)
		pass(time.Second)
		begun := time.Now()
		w.delete(small)
		slowest := slowestOf(10)
		w.until(func() bool { return w.expires(small) })
		t.Logf("plenty: a like showed after %v at most, a small purge took %v", slowest, time.Since(begun))
		if slowest > time.Second || time.Since(begun) > 30*time.Second || w.expires(big) {
			t.Error("the purge holds the others up, or ended before the test")
		}

		road.isShort.Store(true)
		pass(5 * time.Second)
		before := road.short.Refused()
		slowest = slowestOf(10)
		t.Logf("short: a like showed after %v at most, %d refusals", slowest, road.short.Refused()-before)
		if slowest > 5*time.Second || w.expires(big) {
			t.Error("the purge does not give way, or ended before the test")
		}

		road.isShort.Store(false)
		begun = time.Now()
		for p.Counts().Purges < 2 && time.Since(begun) < 10*time.Hour {
			w.isInOrder(big)
			pass(10 * time.Second)
		}
		t.Logf("plenty: the rest took %v", time.Since(begun))
		if n := w.purges(); n > 0 || !w.expires(big) {
			t.Errorf("%d purges are pending", n)
		}
		w.check()
	})
}

// A projector that dies between any two requests, or of whose last request only the answer is lost, leaves a deletion in
// order, and nothing that the next one does not finish.
func TestADeathAmidAPurge(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		t.Run(fmt.Sprintf("answerLost=%v", answerLost), func(t *testing.T) {
			for n := firstCrash(); purgeDiesAfter(t, n, answerLost); n += *strideFlag {
			}
		})
	}
}

func purgeDiesAfter(t *testing.T, n int64, answerLost bool) (died bool) {
	w := newWorld(t)
	author := w.user()
	post := w.liked(author, 230)
	w.comment(author, post)
	w.settle()
	w.delete(post)
	wire, s := w.wired()
	p := w.projector(s, func(o *projector.Options) { o.Parallel = 1 })
	wire.answerLost = answerLost
	wire.left.Store(n)
	died = p.Settle(t.Context()) != nil
	w.isInOrder(post)
	w.settle()
	w.check()
	if n := w.purges(); n > 0 {
		t.Errorf("%d purges are pending", n)
	}
	if t.Failed() {
		t.Fatalf("after a death at request %d", n)
	}
	if !died {
		t.Logf("%d requests", n)
	}
	return died
}

// A purge that several projectors begin, lose and go on with comes to its end, beside users who are renamed again and again and
// one who is deleted.
func TestAPurgeThatWandersBesideRenames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 1)
		author, users := w.user(), []*blog.User{w.user(), w.user(), w.user()}
		big, other := w.liked(author, 1500), w.post(author)
		for i := range users {
			w.comment(users[i], big)
			w.like(users[i], big)
			w.comment(users[i], other)
		}
		w.settle()
		members := w.members(2, func(o *projector.Options) { o.Poll = time.Second })
		for _, m := range members {
			m.wire.change(func(c *wire) { c.refuse = slowly(isPurge) })
		}
		pass(5 * balance)
		w.delete(big)
		w.deleteUser(users[2])
		begun := time.Now()
		for n := 0; !w.expires(big) && time.Since(begun) < time.Hour; n++ {
			for i := range users[:2] {
				users[i] = w.rename(users[i])
			}
			if n%3 == 0 {
				w.takeLease("lease.purges")
			}
			pass(2 * time.Second)
			w.isInOrder(big)
		}
		t.Logf("purged after %v", time.Since(begun))
		pass(3 * time.Minute)
		w.check()
		w.isGone(users[2])
		if n := w.purges(); n > 0 {
			t.Errorf("%d purges are pending", n)
		}
		for _, m := range members {
			m.stop()
		}
	})
}

// takeLease takes a lease away from whoever has it.
func (w *world) takeLease(id string) {
	w.Helper()
	leases, err := w.store.Leases(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, lease := range leases {
		if lease.ID == id {
			lease.Owner = ""
			_, _ = w.store.SaveLease(w.Context(), lease) // its owner may be faster
		}
	}
}

// The purge of a post that has a like which does not let itself be deleted is set aside when all else is done, holds up
// nobody else's, shows in an audit, and is done when it is retried.
func TestAPurgeThatIsRefusedIsSetAside(t *testing.T) {
	w := newWorld(t)
	author := w.user()
	refused, other := w.liked(author, 150), w.liked(author, 150)
	w.settle()
	w.delete(refused)
	w.delete(other)
	wire, s := w.wired()
	wire.refuse = func(request *http.Request) int {
		of := strings.Contains(request.Header.Get("X-Ms-Documentdb-Partitionkey"), refused.ID)
		if of && (isPurge(request) || strings.HasSuffix(request.URL.Path, "/u_7")) {
			return http.StatusBadRequest
		}
		return 0
	}
	p := w.projector(s)
	if err := p.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	letters := w.letters()
	if len(letters) != 1 || letters[0].Projection != "deleted" || letters[0].ItemID != refused.ID || letters[0].Attempts != 5 {
		t.Errorf("dead letters: %+v", letters)
	}
	if !w.expires(other) || w.expires(refused) || w.purges() != 0 {
		t.Errorf("the other expires: %t, the refused: %t, %d are pending", w.expires(other), w.expires(refused), w.purges())
	}
	likes, err := w.store.Likes(t.Context(), refused.ID, blog.PageRequest{First: 9})
	if err != nil || len(likes.Items) != 1 {
		t.Errorf("%d likes are left, %v", len(likes.Items), err)
	}
	if drifts, _ := w.audit(); len(drifts) != 1 || drifts[0] != "expiry posts "+refused.ID+" ttl" {
		t.Errorf("drifts: %v", drifts)
	}
	w.retryAll(nil)
	w.settle()
	w.check()
	w.clean()
}

// Whoever reads the change feed once more from its beginning records no purge of a post that has its ttl, and one that was
// recorded for nothing costs three requests and its own.
func TestWhatIsPurgedIsNotPurgedAgain(t *testing.T) {
	w := newWorld(t)
	posts := w.posts(w.user(), 20)
	for _, post := range posts {
		w.delete(post)
	}
	w.settle()
	for _, lease := range w.leasesOf(store.PostsContainer) {
		if err := w.store.DeleteLease(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	wire, s := w.wired()
	recorded := 0
	wire.refuse = func(request *http.Request) int {
		if isWrite(request) && containerOf(request) == "leases" && request.Body != nil {
			body, _ := io.ReadAll(request.Body)
			request.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte(`"type":"purge"`)) {
				recorded++
			}
		}
		return 0
	}
	if err := w.projector(s).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := wire.writesTo("posts"); recorded != 0 || n != 0 {
		t.Errorf("%d purges were recorded, and %d writes to posts", recorded, n)
	}
	if err := w.store.RecordPurge(t.Context(), posts[0].ID); err != nil {
		t.Fatal(err)
	}
	requests := 0
	wire.refuse = func(request *http.Request) int {
		if strings.Contains(request.URL.Path, posts[0].ID) || strings.Contains(request.Header.Get("X-Ms-Documentdb-Partitionkey"), posts[0].ID) {
			requests++
		}
		return 0
	}
	if err := w.projector(s).Settle(t.Context()); err != nil || requests != 4 || w.purges() != 0 {
		t.Errorf("what was recorded for nothing cost %d requests, %v", requests, err)
	}
	w.check()
}

// A replica that does not know a post yet, or not that it was deleted, is no reason to purge it never.
func TestAReplicaThatIsBehindAPurge(t *testing.T) {
	w := newWorld(t)
	post := w.liked(w.user(), 3)
	w.settle()
	w.delete(post)
	wire, s := w.wired()
	behind := 3
	wire.refuse = func(request *http.Request) int {
		if request.Method == http.MethodGet && containerOf(request) == "posts" && strings.HasSuffix(request.URL.Path, "/"+post.ID) && behind > 0 {
			behind--
			return http.StatusNotFound
		}
		return 0
	}
	if err := w.projector(s).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if behind > 0 || len(w.letters()) > 0 {
		t.Errorf("%d reads were not asked for, set aside: %+v", behind, w.letters())
	}
	w.check()
}

// The purge of a post that is gone ends.
func TestAPurgeOfNothing(t *testing.T) {
	w := newWorld(t)
	if err := w.store.RecordPurge(t.Context(), "p_gone"); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if purges, letters := w.purges(), w.letters(); purges != 0 || len(letters) > 0 {
		t.Errorf("%d purges are pending, set aside: %+v", purges, letters)
	}
}

// An audit does not take for drift what a purge is yet to do, and says that it is pending, whether or not a projector does it.
func TestAnAuditTellsThatAPurgeIsPending(t *testing.T) {
	w := newWorld(t)
	post := w.liked(w.user(), 3)
	w.settle()
	w.delete(post)
	wire, s := w.wired()
	wire.refuse = func(request *http.Request) int {
		if isPurge(request) {
			return http.StatusForbidden
		}
		return 0
	}
	if err := w.projector(s).Settle(t.Context()); err == nil {
		t.Fatal("nothing was refused")
	}
	nobody := func(a *store.Auditing) { a.Sleep = func(context.Context, time.Duration) error { return nil } }
	if drifts, audited := w.audit(nobody); len(drifts) != 0 || audited.Pending != 1 {
		t.Errorf("%+v: %v", audited, drifts)
	}
	w.settle()
	if drifts, audited := w.audit(nobody); len(drifts) != 0 || audited.Pending != 0 {
		t.Errorf("%+v: %v", audited, drifts)
	}
}
