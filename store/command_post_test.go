package store

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/internal/blog"
)

func TestCreatePost(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	content := "Some <b>content</b> & more.\u2028" + strings.Repeat(" word", 100) + " 🚀"

	post, err := w.CreatePost(w.ctx(), ada, blog.PostInput{Title: "A title", Content: content})
	w.ok(err)
	want := &blog.Post{
		ID: post.ID, Author: &blog.User{ID: ada.ID, Username: "Ada"}, Title: "A title", Content: content,
		Excerpt: blog.Excerpt(content), CreationDate: post.CreationDate, Version: 1, Revision: 1,
	}
	if diff := cmp.Diff(want, post); diff != "" {
		t.Error(diff)
	}
	stored, err := w.Post(w.ctx(), post.ID)
	w.ok(err)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	_, err = w.CreatePost(w.ctx(), ada, blog.PostInput{Title: " ", Content: content})
	w.fails(err, blog.BadUserInput)
	_, err = w.CreatePost(w.ctx(), ada, blog.PostInput{Title: "A title", Content: content, IdempotencyKey: " "})
	w.fails(err, blog.BadUserInput)
}

func TestCreatePostByKey(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	in := blog.PostInput{Title: "A title", Content: "Some content.", IdempotencyKey: "a key"}

	post, err := w.CreatePost(w.ctx(), ada, in)
	w.ok(err)
	again, err := w.another().CreatePost(w.ctx(), ada, in)
	w.ok(err)
	if diff := cmp.Diff(post, again); diff != "" {
		t.Error(diff)
	}
	bobs, err := w.CreatePost(w.ctx(), bob, in)
	w.ok(err)
	if bobs.ID == post.ID {
		t.Error("two users' posts by the same key are the same")
	}
	_, err = w.CreatePost(w.ctx(), ada, blog.PostInput{Title: "Another title", Content: "Some content.", IdempotencyKey: "a key"})
	w.fails(err, blog.Conflict)
	_, err = w.DeletePost(w.ctx(), ada.ID, post.ID)
	w.ok(err)
	_, err = w.CreatePost(w.ctx(), ada, in)
	w.fails(err, blog.NotFound)
}

func TestUpdatePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	title, content, one, two := "Another title", "Other content.", 1, 2

	edited, err := w.UpdatePost(w.ctx(), ada.ID, post.ID, blog.PostChange{Title: &title, Version: &one})
	w.ok(err)
	if edited.Title != title || edited.Content != post.Content || edited.Version != 2 || edited.Revision != 2 {
		t.Errorf("edited, the post is %+v", edited)
	}
	_, err = w.UpdatePost(w.ctx(), ada.ID, post.ID, blog.PostChange{Content: &content, Version: &one})
	w.fails(err, blog.Conflict)
	edited, err = w.UpdatePost(w.ctx(), ada.ID, post.ID, blog.PostChange{Content: &content}) // the last write wins
	w.ok(err)
	if edited.Content != content || edited.Excerpt != content || edited.Version != 3 {
		t.Errorf("edited, the post is %+v", edited)
	}
	stored, err := w.Post(w.ctx(), post.ID)
	w.ok(err)
	if diff := cmp.Diff(edited, stored); diff != "" {
		t.Error(diff)
	}

	same, err := w.UpdatePost(w.ctx(), ada.ID, post.ID, blog.PostChange{Title: &title, Content: &content})
	w.ok(err)
	if diff := cmp.Diff(stored, same); diff != "" {
		t.Errorf("a change that changes nothing was written: %s", diff)
	}
	_, err = w.UpdatePost(w.ctx(), bob.ID, post.ID, blog.PostChange{Title: &title, Version: &two})
	w.fails(err, blog.Forbidden)
	_, err = w.UpdatePost(w.ctx(), ada.ID, "p_unknown", blog.PostChange{Title: &title})
	w.fails(err, blog.NotFound)
}

// A like between an editor's read and write is no reason for the editor to lose.
func TestUpdatePostBesideLike(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	beside := w.another()
	title, one := "Another title", 1
	w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if request.Method == http.MethodPatch {
			_, err := beside.LikePost(w.ctx(), bob, post.ID)
			w.ok(err)
		}
		return next.Do(request)
	})

	edited, err := w.UpdatePost(w.ctx(), ada.ID, post.ID, blog.PostChange{Title: &title, Version: &one})
	w.ok(err)
	if edited.LikeCount != 1 || edited.Title != title || edited.Revision != 3 || len(w.faults.requests()) != 2 {
		t.Errorf("after %d requests the post is %+v", len(w.faults.requests()), edited)
	}
	w.faults.set(nil)
	w.counts(post.ID, 0, 1)
}

// An edit between an editor's read and write is.
func TestUpdatePostBesideEdit(t *testing.T) {
	for _, versioned := range []bool{true, false} {
		w := newWorld(t)
		ada := w.user("Ada")
		post := w.post(ada)
		beside := w.another()
		title, other, one := "Another title", "Yet another title", 1
		w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
			if n == 2 {
				_, err := beside.UpdatePost(w.ctx(), ada.ID, post.ID, blog.PostChange{Title: &other})
				w.ok(err)
			}
			return next.Do(request)
		})
		change := blog.PostChange{Title: &title}
		if versioned {
			change.Version = &one
		}
		edited, err := w.UpdatePost(w.ctx(), ada.ID, post.ID, change)
		if versioned {
			w.fails(err, blog.Conflict)
			continue
		}
		w.ok(err)
		if edited.Title != title || edited.Version != 3 {
			t.Errorf("the post is %+v", edited)
		}
	}
}

func TestDeletePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	title := "Another title"

	_, err := w.DeletePost(w.ctx(), bob.ID, post.ID)
	w.fails(err, blog.Forbidden)
	deleted, err := w.DeletePost(w.ctx(), ada.ID, post.ID)
	w.ok(err)
	if diff := cmp.Diff(post, deleted); diff != "" {
		t.Error(diff)
	}
	_, err = w.DeletePost(w.ctx(), ada.ID, post.ID)
	w.fails(err, blog.NotFound)
	_, err = w.Post(w.ctx(), post.ID)
	w.fails(err, blog.NotFound)
	_, err = w.UpdatePost(w.ctx(), ada.ID, post.ID, blog.PostChange{Title: &title})
	w.fails(err, blog.NotFound)
	_, err = w.LikePost(w.ctx(), bob, post.ID)
	w.fails(err, blog.NotFound)
	_, err = w.CreateComment(w.ctx(), bob, blog.CommentInput{PostID: post.ID, Content: "Late."})
	w.fails(err, blog.NotFound)
	item, _, err := read[postItem](w.ctx(), w.posts, post.ID, post.ID)
	w.ok(err)
	if !item.Deleted || item.Revision != 2 {
		t.Errorf("the item is %+v", item)
	}
}
