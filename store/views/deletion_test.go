package views_test

import (
	"context"
	"net/http"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/transfer"
	"cosmosblog/store/views"
)

// brokenThread copies a post with 120 comments of bob, of which some arrive and the post does not.
func brokenThread(t *testing.T) (b *world, bob *blog.User, post *blog.Post) {
	t.Helper()
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.AddUser("Ada"), a.AddUser("Bob")
	post = a.AddPost(ada)
	for range 120 {
		a.AddComment(bob, post)
	}
	ctx, die := context.WithCancel(t.Context())
	batches := 0
	b.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" {
			if batches++; batches == 2 {
				die()
				return nil, storetest.ErrCut
			}
		}
		return next.Do(request)
	})
	if _, err := transfer.Copy(ctx, a.DB, b.DB, transfer.Options{Source: "a"}); err == nil {
		t.Fatal("the copy was not broken off")
	}
	b.Faults.Set(nil)
	_, err := b.Post(b.Ctx(), post.ID)
	b.Fails(err, blog.NotFound)
	if b.responses(post) == 0 {
		t.Fatal("the copy left no comment without its post")
	}
	return b, bob, post
}

// deletion deletes a user and gives the deletion that follows from it.
func (w *world) deletion(user *blog.User) views.Deletion {
	w.T.Helper()
	_, err := w.DeleteUser(w.Ctx(), user.ID, user.Username)
	w.OK(err)
	item, _, err := cosmos.Read[schema.UserItem](w.Ctx(), w.Container(schema.Users), user.ID, user.ID)
	w.OK(err)
	return views.Deletion{UserID: user.ID, Revision: item.Revision}
}

func TestDeletionEndsWherePostsAreMissing(t *testing.T) {
	b, bob, post := brokenThread(t)
	deletion := b.deletion(bob)
	left := b.responses(post)
	for _, want := range []int{left, 0} {
		if found, _, err := b.Delete(b.Ctx(), deletion, b.NewThrottler(4)); err != nil || found != want {
			t.Errorf("a pass found %d of %d: %v", found, want, err)
		}
	}
	if n := b.responses(post); n != 0 {
		t.Errorf("%d comments are left", n)
	}
}

// What hangs on a post that is marked as deleted goes with it, and is not taken for an orphan.
func TestDeletionLeavesWhatGoesWithItsPost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.AddComment(bob, post)
	w.AddLike(bob, post)
	w.RemovePost(post)
	if found, _, err := w.Delete(w.Ctx(), w.deletion(bob), w.NewThrottler(2)); err != nil || found != 2 {
		t.Errorf("the pass found %d: %v", found, err)
	}
	if n := w.responses(post); n != 2 {
		t.Errorf("%d comments and likes are left, want 2", n)
	}
}

// What was left on a post that has its ttl, and so did not go with it, goes at once.
func TestDeletionTakesWhatIsLeftOfAPostThatExpires(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.RemovePost(post)
	w.OK(w.PurgePost(w.Ctx(), post.ID))
	w.Plant(w.Container(schema.Posts), post.ID, bulk.NewLikeItem(post.ID, &blog.Like{User: bob}))
	w.Plant(w.Container(schema.Posts), post.ID, bulk.NewCommentItem(post.ID, &blog.Comment{ID: "c_late", Author: bob}))
	if found, _, err := w.Delete(w.Ctx(), w.deletion(bob), w.NewThrottler(2)); err != nil || found != 2 {
		t.Errorf("the pass found %d: %v", found, err)
	}
	if n := w.responses(post); n != 0 {
		t.Errorf("%d comments and likes are left", n)
	}
}
