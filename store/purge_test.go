package store

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
)

// commented is a post of which n comments and n likes are told.
func commented(w *world, n int) *blog.Post {
	w.t.Helper()
	author := w.user("anna")
	post := w.post(author)
	for i := range n {
		w.comment(author, post)
		_, err := w.LikePost(w.ctx(), &blog.User{ID: fmt.Sprintf("u_%d", i), Username: "someone", Revision: 2}, post.ID)
		w.ok(err)
	}
	return post
}

func (w *world) deletePost(post *blog.Post) {
	w.t.Helper()
	_, err := w.DeletePost(w.ctx(), post.Author.ID, post.ID)
	w.ok(err)
}

func (w *world) responses(post *blog.Post) int {
	w.t.Helper()
	rows, err := query[responseRow](w.ctx(), w.Store.posts, post.ID, responsesQuery, 1000)
	w.ok(err)
	return len(rows)
}

// pendingPurge records the purge of a post and gives it as it was written.
func (w *world) pendingPurge(post *blog.Post) Purge {
	w.t.Helper()
	w.ok(w.RecordPurge(w.ctx(), post.ID))
	purges, err := w.Purges(w.ctx(), 10)
	w.ok(err)
	for _, purge := range purges {
		if purge.PostID == post.ID {
			return purge
		}
	}
	w.t.Fatalf("pending purges: %v", purges)
	return Purge{}
}

// isPurged holds a post to its end: nothing is left but itself, with a ttl.
func (w *world) isPurged(post *blog.Post) {
	w.t.Helper()
	if n := w.responses(post); n != 0 || !w.change(post.ID, post.ID).Expires {
		w.t.Errorf("%d comments and likes are left, and the post expires: %t", n, w.change(post.ID, post.ID).Expires)
	}
}

func TestPurge(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 130) // more than two batches
	w.deletePost(post)
	purge := w.pendingPurge(post)
	if n, more, err := w.Purge(t.Context(), purge, w.NewPace(4)); n != 260 || more || err != nil {
		t.Errorf("found %d, more %t, %v", n, more, err)
	}
	w.isPurged(post)
	w.faults.set(nil)
	n, more, err := w.Purge(t.Context(), purge, w.NewPace(4)) // again
	if requests := len(w.faults.requests()); n != 0 || more || err != nil || requests != 3 {
		t.Errorf("where nothing was left, found %d by %d requests, more %t, %v", n, requests, more, err)
	}
	w.ok(w.ForgetPurge(t.Context(), purge))
	w.ok(w.ForgetPurge(t.Context(), purge))
	if purges, err := w.Purges(t.Context(), 10); err != nil || len(purges) != 0 {
		t.Errorf("pending purges: %v, %v", purges, err)
	}
}

// Whoever is about to forget a purge leaves the one that was recorded meanwhile.
func TestAPurgeThatIsRecordedAgainStays(t *testing.T) {
	w := newWorld(t)
	post := w.post(w.user("anna"))
	w.deletePost(post)
	purge := w.pendingPurge(post)
	again := w.pendingPurge(post)
	w.ok(w.ForgetPurge(t.Context(), purge))
	if purges, err := w.Purges(t.Context(), 10); err != nil || len(purges) != 1 || purges[0] != again {
		t.Errorf("pending purges: %v, %v", purges, err)
	}
}

// What is recorded of a post that is live, or of none, harms nothing.
func TestNothingIsPurgedOfALivePost(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 3)
	_, _, err := w.Purge(t.Context(), Purge{PostID: post.ID}, w.NewPace(1))
	w.fails(err, blog.Conflict)
	if !ConcernsItem(err) || Refused(err) {
		t.Errorf("it is not tried again as what may be chance: %v", err)
	}
	w.counts(post.ID, 3, 3)
	w.plant(w.posts, "p_none", newLikeItem("p_none", &blog.Like{User: post.Author}))
	_, _, err = w.Purge(t.Context(), Purge{PostID: "p_none"}, w.NewPace(1))
	w.fails(err, blog.NotFound)
	w.ok(w.PurgePost(t.Context(), "p_none"))
}

// A purge that dies anywhere, or of whose request only the answer is lost, is finished by another; and two at once do no harm.
func TestPurgeDiesAnywhere(t *testing.T) {
	for name, die := range map[string]func(int) fault{"cut": cutAfter, "dead": deadFrom} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				w := newWorld(t)
				post := commented(w, 80)
				w.deletePost(post)
				w.faults.set(die(n))
				died := w.PurgePost(t.Context(), post.ID) != nil
				w.faults.set(nil)
				if left := w.responses(post); left > 0 && w.change(post.ID, post.ID).Expires {
					t.Fatalf("death at request %d: %d are left, and the post expires", n, left)
				}
				w.ok(w.PurgePost(t.Context(), post.ID))
				w.isPurged(post)
				if !died {
					return
				}
			}
		})
	}
}

// What another worker deleted between the query and the batch is no hindrance.
func TestPurgeBesideAnother(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 60)
	w.deletePost(post)
	other := w.another()
	w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if n == 3 {
			w.ok(other.PurgePost(t.Context(), post.ID))
		}
		return next.Do(request)
	})
	w.ok(w.PurgePost(t.Context(), post.ID))
	w.isPurged(post)
}

// A purge is laid down after a while, for others, and then goes on. At no time is more of it in memory than a page.
func TestPurgesTakeTurns(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 200)
	w.deletePost(post)
	w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		w.clock.advance(2 * time.Second)
		if target, _ := targetOf(request); target.operation == operationQuery && request.Header.Get("X-Ms-Max-Item-Count") != "100" {
			t.Errorf("a query asks for %q items", request.Header.Get("X-Ms-Max-Item-Count"))
		}
		return next.Do(request)
	})
	total := 0
	for turns := 1; ; turns++ {
		n, more, err := w.Purge(t.Context(), Purge{PostID: post.ID}, w.NewPace(4))
		w.ok(err)
		if total += n; more && n > 200 {
			t.Errorf("found %d in one turn", n)
		}
		if !more {
			if turns < 3 || total != 400 {
				t.Errorf("%d turns, %d found", turns, total)
			}
			break
		}
	}
	w.faults.set(nil)
	w.isPurged(post)
}

// A query whose first page is empty, as the service's may be, has nothing left out, and comes to an end.
func TestPurgeBehindAnEmptyPage(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 20)
	w.deletePost(post)
	w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		const continuation = "X-Ms-Continuation"
		switch target, _ := targetOf(request); {
		case n > 100:
			return nil, errCut
		case target.operation != operationQuery:
		case request.Header.Get(continuation) == "":
			empty := &answerWriter{header: http.Header{continuation: {"more"}}, status: http.StatusOK, body: []byte(`{"_rid":"","Documents":[],"_count":0}`)}
			return empty.response(request), nil
		case request.Header.Get(continuation) == "more":
			request.Header.Del(continuation)
		}
		return next.Do(request)
	})
	w.ok(w.PurgePost(t.Context(), post.ID))
	w.faults.set(nil)
	w.isPurged(post)
}

// One response that refuses to go is no reason to leave the others, and keeps the post from expiring.
func TestPurgeGoesOnAroundWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 120)
	w.deletePost(post)
	w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/u_7") || request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" && bytes.Contains(bodyOf(request), []byte(`"u_7"`)) {
			return refusal(request, http.StatusBadRequest), nil
		}
		return next.Do(request)
	})
	_, more, err := w.Purge(t.Context(), Purge{PostID: post.ID}, w.NewPace(4))
	if !ConcernsItem(err) || more {
		t.Errorf("more %t, %v", more, err)
	}
	w.faults.set(nil)
	if n := w.responses(post); n != 1 || w.change(post.ID, post.ID).Expires {
		t.Errorf("%d are left, and the post expires: %t", n, w.change(post.ID, post.ID).Expires)
	}
	w.ok(w.PurgePost(t.Context(), post.ID))
	w.isPurged(post)
}

// An account that refuses every third request holds a purge up, and no more.
func TestPurgeIsThrottled(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 120)
	w.deletePost(post)
	w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if n%3 == 0 {
			return refusal(request, http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1"), nil
		}
		return next.Do(request)
	})
	w.ok(w.PurgePost(t.Context(), post.ID))
	w.faults.set(nil)
	w.isPurged(post)
}

func TestExpire(t *testing.T) {
	w := newWorld(t)
	author := w.user("anna")
	post := w.post(author)
	comment := w.comment(author, post)

	w.ok(w.expirePost(t.Context(), post.ID)) // neither is deleted: nothing happens
	w.ok(w.ExpireComment(t.Context(), post.ID, comment.ID))
	w.ok(w.expirePost(t.Context(), "p_none"))
	w.counts(post.ID, 1, 0)

	_, err := w.DeleteComment(t.Context(), author.ID, post.ID, comment.ID)
	w.ok(err)
	w.deletePost(post)
	w.ok(w.ExpireComment(t.Context(), post.ID, comment.ID))
	w.ok(w.expirePost(t.Context(), post.ID))
	before := w.change(post.ID, post.ID)
	w.ok(w.expirePost(t.Context(), post.ID))
	if after := w.change(post.ID, post.ID); !after.Expires || after.Post.Revision != before.Post.Revision {
		t.Errorf("expired twice: %+v", after.Post)
	}
	w.clock.advance(DeletedTTL - 2e9)
	w.change(post.ID, post.ID)
	w.clock.advance(4e9)
	for _, id := range []string{post.ID, comment.ID} {
		_, err := w.Change(t.Context(), PostsContainer, post.ID, id)
		w.fails(err, blog.NotFound)
	}
}

func (w *world) change(partitionKey, id string) Change {
	w.t.Helper()
	change, err := w.Change(w.ctx(), PostsContainer, partitionKey, id)
	w.ok(err)
	return change
}

// Whoever likes a deleted post or comments on it, before any request of its purge, is refused, and leaves nothing.
func TestNothingComesToAPostThatIsPurged(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 60)
	others := w.another()
	w.deletePost(post)
	w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		late := &blog.User{ID: fmt.Sprintf("u_late_%d", n), Username: "late", Revision: 2}
		_, err := others.LikePost(w.ctx(), late, post.ID)
		others.fails(err, blog.NotFound)
		_, err = others.CreateComment(w.ctx(), late, blog.CommentInput{PostID: post.ID, Content: "…"})
		others.fails(err, blog.NotFound)
		return next.Do(request)
	})
	w.ok(w.PurgePost(w.ctx(), post.ID))
	w.faults.set(nil)
	w.isPurged(post)
}

// However many purges are pending, as many are listed as are asked for, until none is left.
func TestPurgesAreListedInParts(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		w.ok(w.RecordPurge(w.ctx(), fmt.Sprintf("p_%d", i)))
	}
	for _, want := range []int{10, 10, 5, 0} {
		purges, err := w.Purges(w.ctx(), 10)
		if w.ok(err); len(purges) != want {
			t.Errorf("%d purges are listed, want %d", len(purges), want)
		}
		for _, purge := range purges {
			w.ok(w.ForgetPurge(w.ctx(), purge))
		}
	}
}
