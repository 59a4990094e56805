package store

import (
	"fmt"
	"net/http"
	"testing"

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

func TestPurgePost(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 130) // more than two batches
	w.deletePost(post)
	w.ok(w.PurgePost(t.Context(), post.ID))
	if n := w.responses(post); n != 0 {
		t.Errorf("%d comments and likes are left", n)
	}
	w.faults.set(nil)
	w.ok(w.PurgePost(t.Context(), post.ID)) // again
	if n := len(w.faults.requests()); n != 1 {
		t.Errorf("%d requests where nothing was left", n)
	}
}

// A purge that dies anywhere is finished by another; and two at once do no harm.
func TestPurgeDiesAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(t)
		post := commented(w, 80)
		w.deletePost(post)
		w.faults.set(cutAfter(n))
		died := w.PurgePost(t.Context(), post.ID) != nil
		w.faults.set(nil)
		w.ok(w.PurgePost(t.Context(), post.ID))
		if left := w.responses(post); left != 0 {
			t.Fatalf("death at request %d: %d are left", n, left)
		}
		if !died {
			return
		}
	}
}

// What another worker deleted between the query and the batch is no hindrance.
func TestPurgeBesideAnother(t *testing.T) {
	w := newWorld(t)
	post := commented(w, 60)
	w.deletePost(post)
	other := w.another()
	w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if n == 2 {
			w.ok(other.PurgePost(t.Context(), post.ID))
		}
		return next.Do(request)
	})
	w.ok(w.PurgePost(t.Context(), post.ID))
	if left := w.responses(post); left != 0 {
		t.Errorf("%d are left", left)
	}
}

func TestExpire(t *testing.T) {
	w := newWorld(t)
	author := w.user("anna")
	post := w.post(author)
	comment := w.comment(author, post)

	w.ok(w.ExpirePost(t.Context(), post.ID)) // neither is deleted: nothing happens
	w.ok(w.ExpireComment(t.Context(), post.ID, comment.ID))
	w.ok(w.ExpirePost(t.Context(), "p_none"))
	w.counts(post.ID, 1, 0)

	_, err := w.DeleteComment(t.Context(), author.ID, post.ID, comment.ID)
	w.ok(err)
	w.deletePost(post)
	w.ok(w.ExpireComment(t.Context(), post.ID, comment.ID))
	w.ok(w.ExpirePost(t.Context(), post.ID))
	before := w.change(post.ID, post.ID)
	w.ok(w.ExpirePost(t.Context(), post.ID))
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
	w.ok(w.ExpirePost(w.ctx(), post.ID))
	w.faults.set(nil)
	if n := w.responses(post); n != 0 {
		t.Errorf("%d comments and likes are left", n)
	}
}
