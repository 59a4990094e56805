package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
)

func TestLikePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)

	like, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	counted := *post
	counted.Content, counted.LikeCount, counted.Revision = "", 1, 2
	want := &blog.Like{Post: &counted, User: &blog.User{ID: bob.ID, Username: "Bob", Revision: bob.Revision}, CreationDate: like.CreationDate}
	if diff := cmp.Diff(want, like); diff != "" {
		t.Error(diff)
	}
	again, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
	stored, err := w.Like(w.Ctx(), post.ID, bob.ID)
	w.OK(err)
	want.Post = &blog.Post{ID: post.ID}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	w.HoldsCounts(post.ID, 0, 1)

	_, err = w.LikePost(w.Ctx(), bob, "p_unknown")
	w.Fails(err, blog.NotFound)
	_, err = w.Like(w.Ctx(), post.ID, ada.ID)
	w.Fails(err, blog.NotFound)
	_, err = w.Like(w.Ctx(), post.ID, post.ID)
	w.Fails(err, blog.NotFound)
}

func TestUnlikePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	_, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)

	for range 2 {
		unliked, err := w.UnlikePost(w.Ctx(), bob, post.ID)
		w.OK(err)
		if unliked.LikeCount != 0 || unliked.ContentLoaded() {
			t.Errorf("the unliked post is %+v", unliked)
		}
		w.HoldsCounts(post.ID, 0, 0)
	}
	_, err = w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	w.HoldsCounts(post.ID, 0, 1)
	_, err = w.UnlikePost(w.Ctx(), bob, "p_unknown")
	w.Fails(err, blog.NotFound)
}

func TestLikedBy(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	one, two, three := w.AddPost(ada), w.AddPost(ada), w.AddPost(ada)
	for _, post := range []*blog.Post{one, three} {
		_, err := w.LikePost(w.Ctx(), bob, post.ID)
		w.OK(err)
	}
	for _, test := range []struct {
		ids  []string
		want map[string]bool
	}{
		{nil, map[string]bool{}},
		{[]string{one.ID}, map[string]bool{one.ID: true}},
		{[]string{two.ID}, map[string]bool{}},
		{[]string{one.ID, two.ID, three.ID, one.ID, "p_unknown"}, map[string]bool{one.ID: true, three.ID: true}},
	} {
		got, err := w.LikedBy(w.Ctx(), bob.ID, test.ids)
		w.OK(err)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
	}
}
