package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/internal/blog"
)

func TestCreateComment(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)

	comment, err := w.CreateComment(w.ctx(), bob, blog.CommentInput{PostID: post.ID, Content: "\"Well\" <said> 🚀"})
	w.ok(err)
	counted := *post
	counted.Content, counted.CommentCount, counted.Revision = "", 1, 2
	want := &blog.Comment{
		ID: comment.ID, Post: &counted, Author: &blog.User{ID: bob.ID, Username: "Bob"},
		Content: "\"Well\" <said> 🚀", CreationDate: comment.CreationDate,
	}
	if diff := cmp.Diff(want, comment); diff != "" {
		t.Error(diff)
	}
	stored, err := w.Comment(w.ctx(), post.ID, comment.ID)
	w.ok(err)
	want.Post = &blog.Post{ID: post.ID}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	w.counts(post.ID, 1, 0)

	_, err = w.CreateComment(w.ctx(), bob, blog.CommentInput{PostID: "p_unknown", Content: "Well said."})
	w.fails(err, blog.NotFound)
	_, err = w.CreateComment(w.ctx(), bob, blog.CommentInput{PostID: post.ID, Content: "\u200b \n"})
	w.fails(err, blog.BadUserInput)
	_, err = w.CreateComment(w.ctx(), bob, blog.CommentInput{PostID: comment.ID, Content: "On a comment."})
	w.fails(err, blog.NotFound)
}

func TestCreateCommentByKey(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	post, other := w.post(ada), w.post(ada)
	in := blog.CommentInput{PostID: post.ID, Content: "A comment.", IdempotencyKey: "a key"}

	comment, err := w.CreateComment(w.ctx(), ada, in)
	w.ok(err)
	again, err := w.another().CreateComment(w.ctx(), ada, in)
	w.ok(err)
	if diff := cmp.Diff(comment, again); diff != "" {
		t.Error(diff)
	}
	in.Content = "Another comment."
	_, err = w.CreateComment(w.ctx(), ada, in)
	w.fails(err, blog.Conflict)
	in.PostID = other.ID
	_, err = w.CreateComment(w.ctx(), ada, in)
	w.ok(err)
	w.counts(post.ID, 1, 0)
	w.counts(other.ID, 1, 0)

	_, err = w.DeleteComment(w.ctx(), ada.ID, post.ID, comment.ID)
	w.ok(err)
	_, err = w.CreateComment(w.ctx(), ada, blog.CommentInput{PostID: post.ID, Content: "A comment.", IdempotencyKey: "a key"})
	w.fails(err, blog.NotFound)
	w.counts(post.ID, 0, 0)
}

func TestDeleteComment(t *testing.T) {
	w := newWorld(t)
	ada, bob, carla := w.user("Ada"), w.user("Bob"), w.user("Carla")
	post := w.post(ada)
	first, second := w.comment(bob, post), w.comment(bob, post)

	_, err := w.DeleteComment(w.ctx(), carla.ID, post.ID, first.ID)
	w.fails(err, blog.Forbidden)
	_, err = w.DeleteComment(w.ctx(), bob.ID, "p_unknown", first.ID)
	w.fails(err, blog.NotFound)
	_, err = w.DeleteComment(w.ctx(), bob.ID, post.ID, post.ID)
	w.fails(err, blog.NotFound)
	w.counts(post.ID, 2, 0)

	deleted, err := w.DeleteComment(w.ctx(), bob.ID, post.ID, first.ID)
	w.ok(err)
	if deleted.Content != first.Content || deleted.Post.CommentCount != 1 || deleted.Post.ContentLoaded() {
		t.Errorf("the deleted comment is %+v of %+v", deleted, deleted.Post)
	}
	_, err = w.DeleteComment(w.ctx(), bob.ID, post.ID, first.ID)
	w.fails(err, blog.NotFound)
	_, err = w.Comment(w.ctx(), post.ID, first.ID)
	w.fails(err, blog.NotFound)
	_, err = w.DeleteComment(w.ctx(), ada.ID, post.ID, second.ID) // the post's author
	w.ok(err)
	w.counts(post.ID, 0, 0)
}
