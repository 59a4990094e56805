package store

import (
	"context"
	"net/http"
	"testing"

	"cosmosblog/internal/blog"
)

// brokenThread copies a post with 120 comments of bob, of which some arrive and the post does not.
func brokenThread(t *testing.T) (b *world, bob *blog.User, post *blog.Post) {
	t.Helper()
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.user("Ada"), a.user("Bob")
	post = a.post(ada)
	for range 120 {
		a.comment(bob, post)
	}
	ctx, die := context.WithCancel(t.Context())
	batches := 0
	b.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" {
			if batches++; batches == 2 {
				die()
				return nil, errCut
			}
		}
		return next.Do(request)
	})
	if _, err := a.copying(b).Run(ctx); err == nil {
		t.Fatal("the copy was not broken off")
	}
	b.faults.set(nil)
	_, err := b.Post(b.ctx(), post.ID)
	b.fails(err, blog.NotFound)
	if b.responses(post) == 0 {
		t.Fatal("the copy left no comment without its post")
	}
	return b, bob, post
}

// deletion deletes a user and gives the deletion that follows from it.
func (w *world) deletion(user *blog.User) Deletion {
	w.t.Helper()
	_, err := w.DeleteUser(w.ctx(), user.ID, user.Username)
	w.ok(err)
	item, _, err := read[userItem](w.ctx(), w.users, user.ID, user.ID)
	w.ok(err)
	return Deletion{UserID: user.ID, Revision: item.Revision}
}

func TestDeletionEndsWherePostsAreMissing(t *testing.T) {
	b, bob, post := brokenThread(t)
	deletion := b.deletion(bob)
	left := b.responses(post)
	for _, want := range []int{left, 0} {
		if found, _, err := b.Delete(b.ctx(), deletion, b.NewPace(4)); err != nil || found != want {
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
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	w.comment(bob, post)
	w.like(bob, post)
	w.deletePost(post)
	if found, _, err := w.Delete(w.ctx(), w.deletion(bob), w.NewPace(2)); err != nil || found != 2 {
		t.Errorf("the pass found %d: %v", found, err)
	}
	if n := w.responses(post); n != 2 {
		t.Errorf("%d comments and likes are left, want 2", n)
	}
}

// What was left on a post that has its ttl, and so did not go with it, goes at once.
func TestDeletionTakesWhatIsLeftOfAPostThatExpires(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	w.deletePost(post)
	w.ok(w.PurgePost(w.ctx(), post.ID))
	w.plant(w.Store.posts, post.ID, newLikeItem(post.ID, &blog.Like{User: bob}))
	w.plant(w.Store.posts, post.ID, newCommentItem(post.ID, &blog.Comment{ID: "c_late", Author: bob}))
	if found, _, err := w.Delete(w.ctx(), w.deletion(bob), w.NewPace(2)); err != nil || found != 2 {
		t.Errorf("the pass found %d: %v", found, err)
	}
	if n := w.responses(post); n != 0 {
		t.Errorf("%d comments and likes are left", n)
	}
}
