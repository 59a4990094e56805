package store_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

func TestCreatePost(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	content := "Some <b>content</b> & more.\u2028" + strings.Repeat(" word", 100) + " 🚀"

	post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: content})
	w.OK(err)
	want := &blog.Post{
		ID: post.ID, Author: &blog.User{ID: ada.ID, Username: "Ada", Revision: ada.Revision}, Content: content,
		PostHead:       blog.PostHead{Title: "A title", ContentSize: blog.SizeOf(content), Excerpt: blog.Excerpt(content)},
		RecentComments: []*blog.Comment{}, CreationDate: post.CreationDate, Version: 1, Revision: 1,
	}
	if diff := cmp.Diff(want, post); diff != "" {
		t.Error(diff)
	}
	stored, err := w.Post(w.Ctx(), post.ID)
	w.OK(err)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	_, err = w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: " ", Content: content})
	w.Fails(err, blog.BadUserInput)
	_, err = w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: content, IdempotencyKey: new(" ")})
	w.Fails(err, blog.BadUserInput)
}

func TestCreatePostByKey(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	in := blog.CreatePostInput{Title: "A title", Content: "Some content.", IdempotencyKey: new("a key")}

	post, err := w.CreatePost(w.Ctx(), ada, in)
	w.OK(err)
	again, err := w.another().CreatePost(w.Ctx(), ada, in)
	w.OK(err)
	if diff := cmp.Diff(post, again); diff != "" {
		t.Error(diff)
	}
	bobs, err := w.CreatePost(w.Ctx(), bob, in)
	w.OK(err)
	if bobs.ID == post.ID {
		t.Error("two users got the same post for the same key")
	}
	none := in
	none.Tags = []string{} // the same as nil
	again, err = w.CreatePost(w.Ctx(), ada, none)
	w.OK(err)
	if again.ID != post.ID {
		t.Errorf("the post without tags is %s, not %s", again.ID, post.ID)
	}
	_, err = w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "Another title", Content: "Some content.", IdempotencyKey: new("a key")})
	w.Fails(err, blog.IdempotencyKeyReused)
	_, err = w.DeletePost(w.Ctx(), ada.ID, post.ID)
	w.OK(err)
	_, err = w.CreatePost(w.Ctx(), ada, in)
	w.Fails(err, blog.NotFound)
}

func TestUpdatePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	title, content, one, two := "Another title", "Other content.", 1, 2

	edited, err := w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Version: &one}})
	w.OK(err)
	if edited.Title != title || edited.Content != post.Content || edited.Version != 2 || edited.Revision != 2 {
		t.Errorf("the edited post is %+v", edited)
	}
	_, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &content, Version: &one}})
	w.Fails(err, blog.Conflict)
	// Without a version, the last write wins.
	edited, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Content: &content}})
	w.OK(err)
	if edited.Content != content || edited.Excerpt != content || edited.Version != 3 {
		t.Errorf("the edited post is %+v", edited)
	}
	stored, err := w.Post(w.Ctx(), post.ID)
	w.OK(err)
	if diff := cmp.Diff(edited, stored); diff != "" {
		t.Error(diff)
	}

	same, err := w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Content: &content}})
	w.OK(err)
	if diff := cmp.Diff(stored, same); diff != "" {
		t.Errorf("an edit without changes was written: %s", diff)
	}
	_, err = w.UpdatePost(w.Ctx(), bob.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Version: &two}})
	w.Fails(err, blog.Forbidden)
	_, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: blog.PostRef("p_unknown"), PostChange: blog.PostChange{Title: &title}})
	w.Fails(err, blog.NotFound)
}

// TestUpdatePostBesideLike checks that an edit succeeds despite a like between its read and its
// write.
func TestUpdatePostBesideLike(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	beside := w.another()
	title, one := "Another title", 1
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Method == http.MethodPatch {
			_, err := beside.LikePost(w.Ctx(), bob, post.ID)
			w.OK(err)
		}
		return next.Do(request)
	})

	edited, err := w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Version: &one}})
	w.OK(err)
	if edited.LikeCount != 1 || edited.Title != title || edited.Revision != 3 || len(w.Wire.Requests()) != 2 {
		t.Errorf("after %d requests the post is %+v", len(w.Wire.Requests()), edited)
	}
	w.Wire.Inject(nil)
	w.HoldsCounts(post.ID, 0, 1)
}

// TestUpdatePostBesideEdit checks an edit with another edit between its read and its write. The
// first edit fails if it states a version, and is retried otherwise.
func TestUpdatePostBesideEdit(t *testing.T) {
	for _, versioned := range []bool{true, false} {
		w := newWorld(t)
		ada := w.AddUser("Ada")
		post := w.AddPost(ada)
		beside := w.another()
		title, other, one := "Another title", "Yet another title", 1
		w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == 2 {
				_, err := beside.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &other}})
				w.OK(err)
			}
			return next.Do(request)
		})
		change := blog.PostChange{Title: &title}
		if versioned {
			change.Version = &one
		}
		edited, err := w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: blog.PostRef(post.ID), PostChange: change})
		if versioned {
			w.Fails(err, blog.Conflict)
			continue
		}
		w.OK(err)
		if edited.Title != title || edited.Version != 3 {
			t.Errorf("the post is %+v", edited)
		}
	}
}

func TestDeletePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	title := "Another title"

	_, err := w.DeletePost(w.Ctx(), bob.ID, post.ID)
	w.Fails(err, blog.Forbidden)
	deleted, err := w.DeletePost(w.Ctx(), ada.ID, post.ID)
	w.OK(err)
	if diff := cmp.Diff(post, deleted); diff != "" {
		t.Error(diff)
	}
	_, err = w.DeletePost(w.Ctx(), ada.ID, post.ID)
	w.Fails(err, blog.NotFound)
	_, err = w.Post(w.Ctx(), post.ID)
	w.Fails(err, blog.NotFound)
	_, err = w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title}})
	w.Fails(err, blog.NotFound)
	_, err = w.LikePost(w.Ctx(), bob, post.ID)
	w.Fails(err, blog.NotFound)
	_, err = w.CreateComment(w.Ctx(), bob, blog.CreateCommentInput{PostID: post.Ref(), Content: "Late."})
	w.Fails(err, blog.NotFound)
	item, _, err := cosmos.Read[schema.PostItem](w.Ctx(), w.Container(schema.Posts), post.ID, post.ID)
	w.OK(err)
	if !item.Deleted || item.Revision != 2 {
		t.Errorf("the item is %+v", item)
	}
}
