package projector_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/store/bulk"
	"cosmosblog/store/schema"
)

// postWithLikes writes a post with n likes.
func (w *world) postWithLikes(author *blog.User, n int) *blog.Post {
	w.Helper()
	date := blog.NewDateTime(time.Now())
	thread := bulk.Thread{Post: &blog.Post{ID: fmt.Sprintf("p_liked_%d", w.names.Add(1)), Author: author, PostHead: blog.PostHead{Title: "A title"}, Content: "…", CreationDate: date}}
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
	change, err := w.store.Change(w.Context(), schema.Posts, post.ID, post.ID)
	if err != nil {
		w.Fatal(err)
	}
	return change.Expires
}

// wantPurgeOrder checks the order of a post's deletion: the purge begins after the copies are
// gone, and the post gets its ttl after the likes are gone.
func (w *world) wantPurgeOrder(post *blog.Post) {
	w.Helper()
	likes, err := w.store.Likes(w.Context(), post.ID, blog.PageRequest{First: 1})
	if err != nil {
		w.Fatal(err)
	}
	if len(likes.Items) > 0 && w.expires(post) {
		w.Error("the post has a ttl, but also likes")
	}
	feed, err := w.store.Feed(w.Context(), blog.PageRequest{First: 100})
	if err != nil {
		w.Fatal(err)
	}
	for _, shown := range feed.Items {
		if shown.ID == post.ID && (w.purges() > 0 || w.expires(post)) {
			w.Error("the feed shows the post, but its purge has begun")
		}
	}
}

// isPurge reports whether a request deletes a page of comments and likes.
func isPurge(request *http.Request) bool {
	return containerOf(request) == "posts" && request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != ""
}

// The purge of a post with very many likes does not block its feed range: a like of another
// post shows in the feed as usual, and a later, smaller purge ends first. If throughput is
// short, the purge slows down. Afterwards it speeds up again.
func TestPurgeDoesNotBlockFeedRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 1)
		author := w.user()
		big, small := w.postWithLikes(author, *sweptFlag), w.postWithLikes(author, 250)
		w.settle()
		post := w.post(author)
		slow := &wire{next: inprocess.To(w.engine), refuse: delaySecond(isPurge)}
		slow.left.Store(1 << 62)
		far := &slowTransport{next: slow}
		account := newBudgetSwitch(far, 400)
		p, stop := w.run(w.open(account), withoutTakeOver, func(o *projector.Options) { o.Wake, o.Poll = w.wake, time.Second })
		defer stop()
		advanceTime(balance)
		likes := 0
		slowestLike := func(n int) (slowest time.Duration) {
			for range n {
				begun := time.Now()
				w.like(w.user(), post)
				likes++
				w.until(w.feedShows(post, likes))
				slowest = max(slowest, time.Since(begun))
				advanceTime(300 * time.Millisecond)
			}
			return slowest
		}

		w.delete(big)
		advanceTime(time.Second)
		begun := time.Now()
		w.delete(small)
		slowest := slowestLike(10)
		w.until(func() bool { return w.expires(small) })
		t.Logf("enough throughput: likes showed within %v, a small purge took %v", slowest, time.Since(begun))
		if slowest > time.Second || time.Since(begun) > 30*time.Second || w.expires(big) {
			t.Error("the purge blocked others, or ended too early")
		}

		account.isShort.Store(true)
		advanceTime(5 * time.Second)
		before := account.short.Refused()
		slowest = slowestLike(10)
		t.Logf("throughput short: likes showed within %v, %d refusals", slowest, account.short.Refused()-before)
		if slowest > 5*time.Second || w.expires(big) {
			t.Error("the purge did not slow down, or ended too early")
		}

		account.isShort.Store(false)
		begun = time.Now()
		for p.Counts().Purges < 2 && time.Since(begun) < 10*time.Hour {
			w.wantPurgeOrder(big)
			advanceTime(10 * time.Second)
		}
		t.Logf("enough throughput: the rest took %v", time.Since(begun))
		if n := w.purges(); n > 0 || !w.expires(big) {
			t.Errorf("%d purges are pending", n)
		}
		w.wantViewsEqualSource()
	})
}

// A projector may die at any request of a purge. The purge keeps its order, and the next
// projector finishes it.
func TestCrashDuringPurge(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		t.Run(fmt.Sprintf("answerLost=%v", answerLost), func(t *testing.T) {
			for n := firstCrash(t); crashDuringPurge(t, n, answerLost); n += *strideFlag {
			}
		})
	}
}

func crashDuringPurge(t *testing.T, n int64, answerLost bool) (died bool) {
	w := newWorld(t)
	author := w.user()
	post := w.postWithLikes(author, 230)
	w.comment(author, post)
	w.settle()
	w.delete(post)
	wire, s := w.wired()
	p := w.projector(s, func(o *projector.Options) { o.Parallel = 1 })
	wire.answerLost = answerLost
	wire.left.Store(n)
	died = p.SettleForTests(t.Context()) != nil
	w.wantPurgeOrder(post)
	w.settle()
	w.wantViewsEqualSource()
	if n := w.purges(); n > 0 {
		t.Errorf("%d purges are pending", n)
	}
	if t.Failed() {
		t.Fatalf("after a crash at request %d", n)
	}
	if !died {
		t.Logf("%d requests", n)
	}
	return died
}

// A purge ends even if its lease moves between projectors, beside users who are renamed
// repeatedly and one who is deleted.
func TestPurgeWithMovingLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 1)
		author, users := w.user(), []*blog.User{w.user(), w.user(), w.user()}
		big, other := w.postWithLikes(author, 1500), w.post(author)
		for i := range users {
			w.comment(users[i], big)
			w.like(users[i], big)
			w.comment(users[i], other)
		}
		w.settle()
		members := w.members(2, func(o *projector.Options) { o.Poll = time.Second })
		for _, m := range members {
			m.wire.change(func(c *wire) { c.refuse = delaySecond(isPurge) })
		}
		advanceTime(5 * balance)
		w.delete(big)
		w.deleteUser(users[2])
		begun := time.Now()
		for n := 0; !w.expires(big) && time.Since(begun) < time.Hour; n++ {
			for i := range users[:2] {
				users[i] = w.rename(users[i])
			}
			if n%3 == 0 {
				w.freeLease("lease.purges")
			}
			advanceTime(2 * time.Second)
			w.wantPurgeOrder(big)
		}
		t.Logf("purged after %v", time.Since(begun))
		advanceTime(3 * time.Minute)
		w.wantViewsEqualSource()
		w.wantUserGone(users[2])
		if n := w.purges(); n > 0 {
			t.Errorf("%d purges are pending", n)
		}
		for _, m := range members {
			m.stop()
		}
	})
}

// freeLease removes the owner of a lease.
func (w *world) freeLease(id string) {
	w.Helper()
	leases, err := w.store.Leases(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, lease := range leases {
		if lease.ID == id {
			lease.Owner = ""
			_, _ = w.store.SaveLease(w.Context(), lease) // fails if the owner renews the lease first
		}
	}
}

// If the deletion of a like is refused, the purge of its post is set aside after all other
// items are deleted. It does not block other purges, an audit reports it, and a retry finishes
// it.
func TestRefusedPurgeIsSetAside(t *testing.T) {
	w := newWorld(t)
	author := w.user()
	refused, other := w.postWithLikes(author, 150), w.postWithLikes(author, 150)
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
	if err := p.SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	letters := w.letters()
	if len(letters) != 1 || letters[0].Projection != "deleted" || letters[0].ItemID != refused.ID || letters[0].Attempts != 5 {
		t.Errorf("dead letters: %+v", letters)
	}
	if !w.expires(other) || w.expires(refused) || w.purges() != 0 {
		t.Errorf("ttl of the other post: %t, of the refused post: %t, %d pending purges", w.expires(other), w.expires(refused), w.purges())
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
	w.wantViewsEqualSource()
	w.wantNoDrift()
}

// Reading the change feed from the beginning records no purge of a post with a ttl. A needless
// purge costs four requests.
func TestPurgedPostsAreNotPurgedAgain(t *testing.T) {
	w := newWorld(t)
	posts := w.posts(w.user(), 20)
	for _, post := range posts {
		w.delete(post)
	}
	w.settle()
	for _, lease := range w.leasesOf(schema.Posts) {
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
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
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
	if err := w.projector(s).SettleForTests(t.Context()); err != nil || requests != 4 || w.purges() != 0 {
		t.Errorf("the needless purge cost %d requests, %v", requests, err)
	}
	w.wantViewsEqualSource()
}

// A replica that lags behind, and lacks a post or its deletion, does not prevent the purge.
func TestPurgeWithLaggingReplica(t *testing.T) {
	w := newWorld(t)
	post := w.postWithLikes(w.user(), 3)
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
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	if behind > 0 || len(w.letters()) > 0 {
		t.Errorf("%d expected reads missing, set aside: %+v", behind, w.letters())
	}
	w.wantViewsEqualSource()
}

// The purge of a missing post ends.
func TestPurgeOfMissingPost(t *testing.T) {
	w := newWorld(t)
	if err := w.store.RecordPurge(t.Context(), "p_gone"); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if purges, letters := w.purges(), w.letters(); purges != 0 || len(letters) > 0 {
		t.Errorf("%d purges are pending, set aside: %+v", purges, letters)
	}
}

// An audit reports a pending purge as pending, and not as drift, whether or not a projector is
// running.
func TestAuditReportsPendingPurge(t *testing.T) {
	w := newWorld(t)
	post := w.postWithLikes(w.user(), 3)
	w.settle()
	w.delete(post)
	wire, s := w.wired()
	wire.refuse = func(request *http.Request) int {
		if isPurge(request) {
			return http.StatusForbidden
		}
		return 0
	}
	if err := w.projector(s).SettleForTests(t.Context()); err == nil {
		t.Fatal("nothing was refused")
	}
	noProjector := func(a *auditing) { a.Sleep = noSleep }
	if drifts, audited := w.audit(noProjector); len(drifts) != 0 || audited.Pending != 1 {
		t.Errorf("%+v: %v", audited, drifts)
	}
	w.settle()
	if drifts, audited := w.audit(noProjector); len(drifts) != 0 || audited.Pending != 0 {
		t.Errorf("%+v: %v", audited, drifts)
	}
}
