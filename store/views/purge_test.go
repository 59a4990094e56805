package views_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/views"
)

// commented is a post of which n comments and n likes are told.
func commented(w *world, n int) *blog.Post {
	w.T.Helper()
	author := w.AddUser("anna")
	post := w.AddPost(author)
	for i := range n {
		w.AddComment(author, post)
		_, err := w.LikePost(w.Ctx(), &blog.User{ID: fmt.Sprintf("u_%d", i), Username: "someone", Revision: 2}, post.ID)
		w.OK(err)
	}
	return post
}

func (w *world) responses(post *blog.Post) int {
	w.T.Helper()
	rows, err := cosmos.Query[views.ResponseRow](w.Ctx(), w.Container(schema.Posts), post.ID, views.ResponsesQuery, 1000)
	w.OK(err)
	return len(rows)
}

// isPurged holds a post to its end: nothing is left but itself, with a ttl.
func (w *world) isPurged(post *blog.Post) {
	w.T.Helper()
	if n := w.responses(post); n != 0 || !w.ReadChange(post.ID, post.ID).Expires {
		w.T.Errorf("%d comments and likes are left, and the post expires: %t", n, w.ReadChange(post.ID, post.ID).Expires)
	}
}

func TestPurge(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 130) // more than two batches
	w.RemovePost(post)
	purge := w.PendingPurge(post)
	if n, more, err := w.Purge(t.Context(), purge, w.NewThrottler(4)); n != 260 || more || err != nil {
		t.Errorf("found %d, more %t, %v", n, more, err)
	}
	w.isPurged(post)
	w.Faults.Set(nil)
	n, more, err := w.Purge(t.Context(), purge, w.NewThrottler(4)) // again
	if requests := len(w.Faults.Requests()); n != 0 || more || err != nil || requests != 3 {
		t.Errorf("where nothing was left, found %d by %d requests, more %t, %v", n, requests, more, err)
	}
	w.OK(w.ForgetPurge(t.Context(), purge))
	w.OK(w.ForgetPurge(t.Context(), purge))
	if purges, err := w.Purges(t.Context(), 10); err != nil || len(purges) != 0 {
		t.Errorf("pending purges: %v, %v", purges, err)
	}
}

// Whoever is about to forget a purge leaves the one that was recorded meanwhile.
func TestAPurgeThatIsRecordedAgainStays(t *testing.T) {
	w := newWorld(t)
	post := w.AddPost(w.AddUser("anna"))
	w.RemovePost(post)
	purge := w.PendingPurge(post)
	again := w.PendingPurge(post)
	w.OK(w.ForgetPurge(t.Context(), purge))
	if purges, err := w.Purges(t.Context(), 10); err != nil || len(purges) != 1 || purges[0] != again {
		t.Errorf("pending purges: %v, %v", purges, err)
	}
}

// What is recorded of a post that is live, or of none, harms nothing.
func TestNothingIsPurgedOfALivePost(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 3)
	_, _, err := w.Purge(t.Context(), views.Purge{PostID: post.ID}, w.NewThrottler(1))
	w.Fails(err, blog.Conflict)
	if !cosmos.IsItemError(err) || cosmos.IsPermanent(err) {
		t.Errorf("it is not tried again as what may be chance: %v", err)
	}
	w.HoldsCounts(post.ID, 3, 3)
	w.Plant(w.Container(schema.Posts), "p_none", bulk.NewLikeItem("p_none", &blog.Like{User: post.Author}))
	_, _, err = w.Purge(t.Context(), views.Purge{PostID: "p_none"}, w.NewThrottler(1))
	w.Fails(err, blog.NotFound)
	w.OK(w.PurgePost(t.Context(), "p_none"))
}

// A purge that dies anywhere, or of whose request only the answer is lost, is finished by another; and two at once do no harm.
func TestPurgeDiesAnywhere(t *testing.T) {
	for name, die := range map[string]func(int) storetest.Fault{"cut": storetest.CutAfter, "dead": storetest.DeadFrom} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				w := newWorld(t)
				post := commented(w, 80)
				w.RemovePost(post)
				w.Faults.Set(die(n))
				died := w.PurgePost(t.Context(), post.ID) != nil
				w.Faults.Set(nil)
				if left := w.responses(post); left > 0 && w.ReadChange(post.ID, post.ID).Expires {
					t.Fatalf("death at request %d: %d are left, and the post expires", n, left)
				}
				w.OK(w.PurgePost(t.Context(), post.ID))
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
	w.RemovePost(post)
	other := w.another()
	w.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if n == 3 {
			w.OK(other.PurgePost(t.Context(), post.ID))
		}
		return next.Do(request)
	})
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.isPurged(post)
}

// A purge is laid down after a while, for others, and then goes on. At no time is more of it in memory than a page.
func TestPurgesTakeTurns(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 200)
	w.RemovePost(post)
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		w.Clock.Advance(2 * time.Second)
		if target, _ := cosmos.TargetOf(request); target.Operation == cosmos.OperationQuery && request.Header.Get("X-Ms-Max-Item-Count") != "100" {
			t.Errorf("a query asks for %q items", request.Header.Get("X-Ms-Max-Item-Count"))
		}
		return next.Do(request)
	})
	total := 0
	for turns := 1; ; turns++ {
		n, more, err := w.Purge(t.Context(), views.Purge{PostID: post.ID}, w.NewThrottler(4))
		w.OK(err)
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
	w.Faults.Set(nil)
	w.isPurged(post)
}

// A query whose first page is empty, as the service's may be, has nothing left out, and comes to an end.
func TestPurgeBehindAnEmptyPage(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 20)
	w.RemovePost(post)
	w.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		const continuation = "X-Ms-Continuation"
		switch target, _ := cosmos.TargetOf(request); {
		case n > 100:
			return nil, storetest.ErrCut
		case target.Operation != cosmos.OperationQuery:
		case request.Header.Get(continuation) == "":
			empty := storetest.Answer(request, http.StatusOK, `{"_rid":"","Documents":[],"_count":0}`)
			empty.Header.Set(continuation, "more")
			return empty, nil
		case request.Header.Get(continuation) == "more":
			request.Header.Del(continuation)
		}
		return next.Do(request)
	})
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.Faults.Set(nil)
	w.isPurged(post)
}

// One response that refuses to go is no reason to leave the others, and keeps the post from expiring.
func TestPurgeGoesOnAroundWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 120)
	w.RemovePost(post)
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/u_7") || request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" && bytes.Contains(storetest.BodyOf(request), []byte(`"u_7"`)) {
			return storetest.Refusal(request, http.StatusBadRequest), nil
		}
		return next.Do(request)
	})
	_, more, err := w.Purge(t.Context(), views.Purge{PostID: post.ID}, w.NewThrottler(4))
	if !cosmos.IsItemError(err) || more {
		t.Errorf("more %t, %v", more, err)
	}
	w.Faults.Set(nil)
	if n := w.responses(post); n != 1 || w.ReadChange(post.ID, post.ID).Expires {
		t.Errorf("%d are left, and the post expires: %t", n, w.ReadChange(post.ID, post.ID).Expires)
	}
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.isPurged(post)
}

// An account that refuses every third request holds a purge up, and no more.
func TestPurgeIsThrottled(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 120)
	w.RemovePost(post)
	w.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if n%3 == 0 {
			return storetest.Refusal(request, http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1"), nil
		}
		return next.Do(request)
	})
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.Faults.Set(nil)
	w.isPurged(post)
}

func TestExpire(t *testing.T) {
	w := newWorld(t)
	author := w.AddUser("anna")
	post := w.AddPost(author)
	comment := w.AddComment(author, post)

	w.OK(w.ExpirePost(t.Context(), post.ID)) // neither is deleted: nothing happens
	w.OK(w.ExpireComment(t.Context(), post.ID, comment.ID))
	w.OK(w.ExpirePost(t.Context(), "p_none"))
	w.HoldsCounts(post.ID, 1, 0)

	_, err := w.DeleteComment(t.Context(), author.ID, post.ID, comment.ID)
	w.OK(err)
	w.RemovePost(post)
	w.OK(w.ExpireComment(t.Context(), post.ID, comment.ID))
	w.OK(w.ExpirePost(t.Context(), post.ID))
	before := w.ReadChange(post.ID, post.ID)
	w.OK(w.ExpirePost(t.Context(), post.ID))
	if after := w.ReadChange(post.ID, post.ID); !after.Expires || after.Post.Revision != before.Post.Revision {
		t.Errorf("expired twice: %+v", after.Post)
	}
	w.Clock.Advance(views.DeletedTTL - 2e9)
	w.ReadChange(post.ID, post.ID)
	w.Clock.Advance(4e9)
	for _, id := range []string{post.ID, comment.ID} {
		_, err := w.Change(t.Context(), schema.Posts, post.ID, id)
		w.Fails(err, blog.NotFound)
	}
}

// Whoever likes a deleted post or comments on it, before any request of its purge, is refused, and leaves nothing.
func TestNothingComesToAPostThatIsPurged(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 60)
	others := w.another()
	w.RemovePost(post)
	w.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		late := &blog.User{ID: fmt.Sprintf("u_late_%d", n), Username: "late", Revision: 2}
		_, err := others.LikePost(w.Ctx(), late, post.ID)
		others.Fails(err, blog.NotFound)
		_, err = others.CreateComment(w.Ctx(), late, blog.CommentInput{PostID: post.ID, Content: "…"})
		others.Fails(err, blog.NotFound)
		return next.Do(request)
	})
	w.OK(w.PurgePost(w.Ctx(), post.ID))
	w.Faults.Set(nil)
	w.isPurged(post)
}

// However many purges are pending, as many are listed as are asked for, until none is left.
func TestPurgesAreListedInParts(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		w.OK(w.RecordPurge(w.Ctx(), fmt.Sprintf("p_%d", i)))
	}
	for _, want := range []int{10, 10, 5, 0} {
		purges, err := w.Purges(w.Ctx(), 10)
		if w.OK(err); len(purges) != want {
			t.Errorf("%d purges are listed, want %d", len(purges), want)
		}
		for _, purge := range purges {
			w.OK(w.ForgetPurge(w.Ctx(), purge))
		}
	}
}
