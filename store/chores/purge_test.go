package chores_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/bulk"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// commented creates a post with n comments and n likes.
func commented(w *world, n int) *blog.Post {
	w.T.Helper()
	author, date := w.AddUser("anna"), w.Clock.Date()
	thread := bulk.Thread{Post: &blog.Post{ID: "p_1", Author: author, PostHead: blog.PostHead{Title: "A title"}, Content: "…", CreationDate: date}}
	for i := range n {
		liker := &blog.User{ID: fmt.Sprintf("u_%d", i), Username: "someone", Revision: 2}
		comment := &blog.Comment{ID: fmt.Sprintf("c_%d", i), Author: author, Content: "…", CreationDate: date}
		thread.Likes = append(thread.Likes, &blog.Like{User: liker, CreationDate: date})
		thread.Comments = append(thread.Comments, comment)
	}
	post, err := w.WriteThread(w.Ctx(), thread)
	w.OK(err)
	return post
}

func (w *world) responses(post *blog.Post) int {
	w.T.Helper()
	rows, err := cosmos.Query[schema.ResponseID](w.Ctx(), w.Container(schema.Posts), post.ID, chores.ResponsesQuery, 1000)
	w.OK(err)
	return len(rows)
}

// wantPurged checks that a post has a ttl, and no comments and likes.
func (w *world) wantPurged(post *blog.Post) {
	w.T.Helper()
	if n := w.responses(post); n != 0 || !w.ReadChange(post.ID, post.ID).Expires {
		w.T.Errorf("%d comments and likes are left, the post has a ttl: %t", n, w.ReadChange(post.ID, post.ID).Expires)
	}
}

func TestPurge(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 130) // more than two batches
	content := strings.Repeat("x", schema.MaxInlineContent+1)
	_, err := w.UpdatePost(w.Ctx(), post.Author.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &content}})
	w.OK(err)
	w.RemovePost(post)
	purge := w.PendingPurge(post)
	if n, err := chores.Run(t.Context(), w.PurgePass(post.ID)); n != 261 || err != nil {
		t.Errorf("%d items found, error %v", n, err)
	}
	w.wantPurged(post)
	w.Wire.Inject(nil)
	n, err := chores.Run(t.Context(), w.PurgePass(post.ID)) // again
	if requests := len(w.Wire.Requests()); n != 0 || err != nil || requests != 3 {
		t.Errorf("a needless purge found %d items with %d requests, error %v", n, requests, err)
	}
	w.OK(w.ForgetPurge(t.Context(), purge))
	w.OK(w.ForgetPurge(t.Context(), purge))
	if purges, err := w.Purges(t.Context(), 10); err != nil || len(purges) != 0 {
		t.Errorf("pending purges: %v, %v", purges, err)
	}
}

// ForgetPurge leaves a purge that was recorded again meanwhile.
func TestPurgeRecordedAgainStays(t *testing.T) {
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

// The purge of a live or missing post changes nothing.
func TestLivePostIsNotPurged(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 3)
	_, err := chores.Run(t.Context(), w.PurgePass(post.ID))
	w.Fails(err, blog.Conflict)
	if !cosmos.IsItemError(err) || cosmos.IsPermanent(err) {
		t.Errorf("the error is not one that may be temporary: %v", err)
	}
	w.HoldsCounts(post.ID, 3, 3)
	w.Plant(w.Container(schema.Posts), "p_none", schema.NewLikeItem("p_none", &blog.Like{User: post.Author}))
	_, err = chores.Run(t.Context(), w.PurgePass("p_none"))
	w.Fails(err, blog.NotFound)
	w.OK(w.PurgePost(t.Context(), "p_none"))
}

// A purge that crashes at any request, or loses one answer, is finished by another.
func TestPurgeAfterCrash(t *testing.T) {
	for name, fault := range map[string]func(int) cosmostest.Fault{
		"answer lost": func(n int) cosmostest.Fault { return cosmostest.Nth(n, storetest.CutAfter) },
		"crash":       func(n int) cosmostest.Fault { return cosmostest.From(n, storetest.CutBefore) },
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				w := newWorld(t)
				post := commented(w, 80)
				w.RemovePost(post)
				w.Wire.Inject(fault(n))
				failed := w.PurgePost(t.Context(), post.ID) != nil
				w.Wire.Inject(nil)
				if left := w.responses(post); left > 0 && w.ReadChange(post.ID, post.ID).Expires {
					t.Fatalf("after a fault at request %d, %d items are left, but the post has a ttl", n, left)
				}
				w.OK(w.PurgePost(t.Context(), post.ID))
				w.wantPurged(post)
				if !failed {
					return
				}
			}
		})
	}
}

// A purge ends if another worker deletes items between its query and its batch.
func TestConcurrentPurges(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 60)
	w.RemovePost(post)
	other := w.another()
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if n == 3 {
			w.OK(other.PurgePost(t.Context(), post.ID))
		}
		return next.Do(request)
	})
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.wantPurged(post)
}

// A purge reads pages of at most 40 such items, and sends one request in each turn.
func TestPurgeReadsPageByPage(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 200)
	w.RemovePost(post)
	first := 0
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		const size = "X-Ms-Max-Item-Count"
		target, _ := cosmos.TargetOf(request)
		if n, _ := strconv.Atoi(request.Header.Get(size)); target.Operation == cosmos.OperationQuery {
			if n < 1 || n > 40 || first == 0 && n != 20 {
				t.Errorf("a query asks for %d items", n)
			}
			first = cmp.Or(first, n)
		}
		return next.Do(request)
	})
	pace := &testPace{world: w}
	progress := &chores.Progress{Pace: pace, Parallel: 1}
	w.OK(w.PurgePass(post.ID)(t.Context(), progress))
	if pace.most != 1 || progress.Changed() != 400 {
		t.Errorf("%d items changed, at most %d requests in a turn", progress.Changed(), pace.most)
	}
	w.Wire.Inject(nil)
	w.wantPurged(post)
}

// A purge ends and misses nothing if the first page of its query is empty, as the service's may be.
func TestPurgeWithEmptyPage(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 20)
	w.RemovePost(post)
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		const continuation = "X-Ms-Continuation"
		switch target, _ := cosmos.TargetOf(request); {
		case n > 100:
			return nil, storetest.ErrCut
		case target.Operation != cosmos.OperationQuery:
		case request.Header.Get(continuation) == "":
			return cosmostest.Respond(http.StatusOK, `{"_rid":"","Documents":[],"_count":0}`, continuation+": more")(n, request, next)
		case request.Header.Get(continuation) == "more":
			request.Header.Del(continuation)
		}
		return next.Do(request)
	})
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.Wire.Inject(nil)
	w.wantPurged(post)
}

// A comment or like whose deletion is refused does not stop the deletion of the others. The post
// gets no ttl then.
func TestPurgeContinuesAfterRefusal(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 120)
	w.RemovePost(post)
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		isBatch := request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != ""
		if strings.HasSuffix(request.URL.Path, "/u_7") ||
			isBatch && bytes.Contains(cosmostest.Body(request), []byte(`"u_7"`)) {
			return cosmostest.Refuse(http.StatusBadRequest)(0, request, nil)
		}
		return next.Do(request)
	})
	if _, err := chores.Run(t.Context(), w.PurgePass(post.ID)); !cosmos.IsItemError(err) {
		t.Errorf("error %v", err)
	}
	w.Wire.Inject(nil)
	if n := w.responses(post); n != 1 || w.ReadChange(post.ID, post.ID).Expires {
		t.Errorf("%d items are left, the post has a ttl: %t", n, w.ReadChange(post.ID, post.ID).Expires)
	}
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.wantPurged(post)
}

// A purge ends although the account throttles every third request.
func TestThrottledPurge(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 120)
	w.RemovePost(post)
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if n%3 == 0 {
			return cosmostest.Refuse(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1")(0, request, nil)
		}
		return next.Do(request)
	})
	w.OK(w.PurgePost(t.Context(), post.ID))
	w.Wire.Inject(nil)
	w.wantPurged(post)
}

func TestExpire(t *testing.T) {
	w := newWorld(t)
	author := w.AddUser("anna")
	post := w.AddPost(author)
	comment := w.AddComment(author, post)

	w.OK(w.ExpirePost(t.Context(), post.ID, author.ID)) // neither is deleted: nothing changes
	w.OK(w.ExpireComment(t.Context(), post.ID, comment.ID, author.ID))
	w.OK(w.ExpirePost(t.Context(), "p_none", author.ID))
	w.HoldsCounts(post.ID, 1, 0)

	_, err := w.DeleteComment(t.Context(), author.ID, post.ID, comment.ID)
	w.OK(err)
	w.RemovePost(post)
	w.OK(w.ExpireComment(t.Context(), post.ID, comment.ID, author.ID))
	w.OK(w.ExpirePost(t.Context(), post.ID, author.ID))
	before := w.ReadChange(post.ID, post.ID)
	w.OK(w.ExpirePost(t.Context(), post.ID, author.ID))
	if after := w.ReadChange(post.ID, post.ID); !after.Expires || after.Post.Revision != before.Post.Revision {
		t.Errorf("expired twice: %+v", after.Post)
	}
	for _, id := range []string{post.ID, comment.ID} {
		w.wantOnlyFoundByID(post.ID, id, author.ID)
	}
	w.Clock.Advance(views.DeletedTTL - 2e9)
	w.ReadChange(post.ID, post.ID)
	w.Clock.Advance(4e9)
	for _, id := range []string{post.ID, comment.ID} {
		_, err := w.Change(t.Context(), schema.Posts, post.ID, id)
		w.Fails(err, blog.NotFound)
	}
}

// Likes and comments of a deleted post are rejected at any time during its purge, and leave
// nothing.
func TestResponsesToPurgedPostAreRejected(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 60)
	others := w.another()
	w.RemovePost(post)
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		late := &blog.User{ID: fmt.Sprintf("u_late_%d", n), Username: "late", Revision: 2}
		_, err := others.LikePost(w.Ctx(), late, post.ID)
		others.Fails(err, blog.NotFound)
		_, err = others.CreateComment(w.Ctx(), late, blog.CreateCommentInput{PostID: post.Ref(), Content: "…"})
		others.Fails(err, blog.NotFound)
		return next.Do(request)
	})
	w.OK(w.PurgePost(w.Ctx(), post.ID))
	w.Wire.Inject(nil)
	w.wantPurged(post)
}

// Purges returns at most the requested number of purges, however many are pending.
func TestPurgesAreLimited(t *testing.T) {
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

// A page that cannot be decoded is not skipped: the purge fails, and the post gets no ttl.
func TestPurgeOfUndecodableItems(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 3)
	w.RemovePost(post)
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if target, _ := cosmos.TargetOf(request); target.Operation == cosmos.OperationQuery {
			return cosmostest.Respond(http.StatusOK, `{"_rid":"","Documents":[{"id":7}],"_count":1}`)(0, request, nil)
		}
		return next.Do(request)
	})
	pace := &testPace{world: w}
	err := w.PurgePass(post.ID)(t.Context(), &chores.Progress{Pace: pace, Parallel: 1})
	if !cosmos.IsPermanent(err) || pace.failures != 10 {
		t.Errorf("after %d failures, error %v", pace.failures, err)
	}
	if w.Wire.Inject(nil); w.ReadChange(post.ID, post.ID).Expires {
		t.Error("the post has a ttl")
	}
}

// wantOnlyFoundByID checks that a deleted item with a ttl has no text, and no userId by which
// chores would find it.
func (w *world) wantOnlyFoundByID(postID, id, authorID string) {
	w.T.Helper()
	item, _, err := cosmos.Read[map[string]any](w.Ctx(), w.Container(schema.Posts), postID, id)
	w.OK(err)
	for _, text := range []string{"title", "excerpt", "content"} {
		if value, ok := (*item)[text]; ok && value != "" {
			w.T.Errorf("the deleted item %s has the %s %v", id, text, value)
		}
	}
	if _, ok := (*item)["userId"]; ok || (*item)["authorId"] != authorID {
		w.T.Errorf("the deleted item is %v", *item)
	}
	change := w.ReadChange(postID, id)
	if change.Post != nil && change.Post.Author.ID != authorID || change.Comment != nil && change.Comment.Author.ID != authorID {
		w.T.Errorf("the change of %s has lost the author", id)
	}
}
