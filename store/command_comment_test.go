package store_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

func TestCreateComment(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)

	comment, err := w.CreateComment(w.Ctx(), bob, blog.CreateCommentInput{PostID: post.Ref(), Content: "\"Well\" <said> 🚀"})
	w.OK(err)
	counted := *post
	counted.Content, counted.CommentCount, counted.Revision = "", 1, 2
	counted.RecentComments = []*blog.Comment{{
		ID: comment.ID, Post: &counted, Author: &blog.User{ID: bob.ID, Username: "Bob", Revision: bob.Revision},
		Excerpt: "\"Well\" <said> 🚀", CreationDate: comment.CreationDate,
	}}
	want := &blog.Comment{
		ID: comment.ID, Post: &counted, Author: &blog.User{ID: bob.ID, Username: "Bob", Revision: bob.Revision},
		Content: "\"Well\" <said> 🚀", Excerpt: "\"Well\" <said> 🚀", CreationDate: comment.CreationDate,
	}
	if diff := cmp.Diff(want, comment); diff != "" {
		t.Error(diff)
	}
	stored, err := w.Comment(w.Ctx(), post.ID, comment.ID)
	w.OK(err)
	want.Post = &blog.Post{ID: post.ID}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	w.HoldsCounts(post.ID, 1, 0)

	_, err = w.CreateComment(w.Ctx(), bob, blog.CreateCommentInput{PostID: blog.PostRef("p_unknown"), Content: "Well said."})
	w.Fails(err, blog.NotFound)
	_, err = w.CreateComment(w.Ctx(), bob, blog.CreateCommentInput{PostID: post.Ref(), Content: "\u200b \n"})
	w.Fails(err, blog.BadUserInput)
	_, err = w.CreateComment(w.Ctx(), bob, blog.CreateCommentInput{PostID: blog.PostRef(comment.ID), Content: "On a comment."})
	w.Fails(err, blog.NotFound)
}

func TestCreateCommentByKey(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post, other := w.AddPost(ada), w.AddPost(ada)
	in := blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment.", IdempotencyKey: new("a key")}

	comment, err := w.CreateComment(w.Ctx(), ada, in)
	w.OK(err)
	again, err := w.another().CreateComment(w.Ctx(), ada, in)
	w.OK(err)
	if diff := cmp.Diff(comment, again); diff != "" {
		t.Error(diff)
	}
	in.Content = "Another comment."
	_, err = w.CreateComment(w.Ctx(), ada, in)
	w.Fails(err, blog.IdempotencyKeyReused)
	in.PostID = other.Ref()
	_, err = w.CreateComment(w.Ctx(), ada, in)
	w.OK(err)
	w.HoldsCounts(post.ID, 1, 0)
	w.HoldsCounts(other.ID, 1, 0)

	_, err = w.DeleteComment(w.Ctx(), ada.ID, post.ID, comment.ID)
	w.OK(err)
	_, err = w.CreateComment(w.Ctx(), ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment.", IdempotencyKey: new("a key")})
	w.Fails(err, blog.NotFound)
	w.HoldsCounts(post.ID, 0, 0)
}

func TestDeleteComment(t *testing.T) {
	w := newWorld(t)
	ada, bob, carla := w.AddUser("Ada"), w.AddUser("Bob"), w.AddUser("Carla")
	post := w.AddPost(ada)
	first, second := w.AddComment(bob, post), w.AddComment(bob, post)

	_, err := w.DeleteComment(w.Ctx(), carla.ID, post.ID, first.ID)
	w.Fails(err, blog.Forbidden)
	_, err = w.DeleteComment(w.Ctx(), bob.ID, "p_unknown", first.ID)
	w.Fails(err, blog.NotFound)
	_, err = w.DeleteComment(w.Ctx(), bob.ID, post.ID, post.ID)
	w.Fails(err, blog.NotFound)
	w.HoldsCounts(post.ID, 2, 0)

	deleted, err := w.DeleteComment(w.Ctx(), bob.ID, post.ID, first.ID)
	w.OK(err)
	if deleted.Content != first.Content || deleted.Post.CommentCount != 1 || deleted.Post.ContentLoaded() {
		t.Errorf("the deleted comment is %+v of %+v", deleted, deleted.Post)
	}
	_, err = w.DeleteComment(w.Ctx(), bob.ID, post.ID, first.ID)
	w.Fails(err, blog.NotFound)
	_, err = w.Comment(w.Ctx(), post.ID, first.ID)
	w.Fails(err, blog.NotFound)
	_, err = w.DeleteComment(w.Ctx(), ada.ID, post.ID, second.ID) // the post's author
	w.OK(err)
	w.HoldsCounts(post.ID, 0, 0)
}

// An edit whose answer was lost is not made again, although another edit came in between.
func TestRepeatedEditOfComment(t *testing.T) {
	w := newWorld(t)
	ann := w.AddUser("ann")
	post := w.AddPost(ann)
	comment := w.AddComment(ann, post)
	other := w.another() // another tab
	edit := func(w *world, content string) string {
		edited, err := w.UpdateComment(w.Ctx(), ann.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: content})
		w.OK(err)
		return edited.Content
	}
	for round := range 10 { // more than a comment remembers
		lost, later := fmt.Sprintf("Lost %d.", round), fmt.Sprintf("Later %d.", round)
		w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			response, err := next.Do(request)
			if n > 1 {
				return response, err
			}
			for i := range 6 {
				edit(other, fmt.Sprintf("Between %d.", i))
			}
			edit(other, later)
			return nil, storetest.ErrCut
		})
		if got := edit(w, lost); got != later || len(w.Wire.Requests()) != 2 {
			t.Errorf("the answer is %q after %d requests, want %q", got, len(w.Wire.Requests()), later)
		}
		now, err := other.Comment(w.Ctx(), post.ID, comment.ID)
		w.OK(err)
		if now.Content != later {
			t.Errorf("the comment is %q, want %q", now.Content, later)
		}
	}
}

// A comment whose creation takes long is dated after those that were created meanwhile. So readers
// who follow the list miss none, also if the newest was deleted.
func TestCommentsAreDatedInOrder(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	for _, deletes := range []bool{false, true} {
		slow := w.another()
		sent, proceed := make(chan struct{}), make(chan struct{})
		slow.Wire.Inject(func(_ int, request *http.Request, next policy.Transporter) (*http.Response, error) {
			close(sent)
			<-proceed
			return next.Do(request)
		})
		var late *blog.Comment
		done := make(chan error, 1)
		go func() {
			var err error
			late, err = slow.CreateComment(slow.Ctx(), ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "Late."})
			done <- err
		}()
		<-sent
		before := w.AddComment(ada, post)
		if deletes {
			_, err := w.DeleteComment(w.Ctx(), ada.ID, post.ID, before.ID)
			w.OK(err)
		}
		close(proceed)
		w.OK(<-done)
		if late.CreationDate <= before.CreationDate {
			t.Errorf("the later comment is dated %s, the one before it %s", late.CreationDate, before.CreationDate)
		}
		stored, err := w.Comment(w.Ctx(), post.ID, late.ID)
		w.OK(err)
		if stored.CreationDate != late.CreationDate {
			t.Errorf("stored with %s, answered %s", stored.CreationDate, late.CreationDate)
		}
	}
}

// The dates of comments move on by a microsecond, over the ends of seconds, minutes and years.
func TestDatesOfCommentsMoveOn(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	for last, want := range map[blog.DateTime]blog.DateTime{
		"2040-01-01T00:00:00.000000Z": "2040-01-01T00:00:00.000001Z",
		"2040-01-01T00:00:00.000999Z": "2040-01-01T00:00:00.001000Z",
		"2040-01-01T00:00:59.999999Z": "2040-01-01T00:01:00.000000Z",
		"2040-12-31T23:59:59.999999Z": "2041-01-01T00:00:00.000000Z",
	} {
		post := w.AddPost(ada)
		var changes azcosmos.PatchOperations
		changes.AppendSet("/lastCommentDate", last)
		w.OK(cosmos.PatchIf(w.Ctx(), w.Container(schema.Posts), post.ID, post.ID, "c.deleted = false", changes))
		if got := w.AddComment(ada, post).CreationDate; got != want {
			t.Errorf("after %s: %s, want %s", last, got, want)
		}
	}
}
