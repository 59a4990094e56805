package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/internal/blog"
)

func TestLikePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)

	like, err := w.LikePost(w.ctx(), bob, post.ID)
	w.ok(err)
	counted := *post
	counted.Content, counted.LikeCount, counted.Revision = "", 1, 2
	want := &blog.Like{Post: &counted, User: &blog.User{ID: bob.ID, Username: "Bob"}, CreationDate: like.CreationDate}
	if diff := cmp.Diff(want, like); diff != "" {
		t.Error(diff)
	}
	again, err := w.LikePost(w.ctx(), bob, post.ID)
	w.ok(err)
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
	stored, err := w.Like(w.ctx(), post.ID, bob.ID)
	w.ok(err)
	want.Post = &blog.Post{ID: post.ID}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	w.counts(post.ID, 0, 1)

	_, err = w.LikePost(w.ctx(), bob, "p_unknown")
	w.fails(err, blog.NotFound)
	_, err = w.Like(w.ctx(), post.ID, ada.ID)
	w.fails(err, blog.NotFound)
	_, err = w.Like(w.ctx(), post.ID, post.ID)
	w.fails(err, blog.NotFound)
}

func TestUnlikePost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	_, err := w.LikePost(w.ctx(), bob, post.ID)
	w.ok(err)

	for range 2 {
		unliked, err := w.UnlikePost(w.ctx(), bob.ID, post.ID)
		w.ok(err)
		if unliked.LikeCount != 0 || unliked.ContentLoaded() {
			t.Errorf("unliked, the post is %+v", unliked)
		}
		w.counts(post.ID, 0, 0)
	}
	_, err = w.LikePost(w.ctx(), bob, post.ID)
	w.ok(err)
	w.counts(post.ID, 0, 1)
	_, err = w.UnlikePost(w.ctx(), bob.ID, "p_unknown")
	w.fails(err, blog.NotFound)
}

func TestLikedBy(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	one, two, three := w.post(ada), w.post(ada), w.post(ada)
	for _, post := range []*blog.Post{one, three} {
		_, err := w.LikePost(w.ctx(), bob, post.ID)
		w.ok(err)
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
		got, err := w.LikedBy(w.ctx(), bob.ID, test.ids)
		w.ok(err)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
	}
}
