package projector_test

import "testing"

func TestViewsFollowTheirSource(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.user(), w.user()
	posts := w.posts(anna, 3)
	w.comment(ben, posts[0])
	w.like(ben, posts[1])
	w.settle()
	w.check()

	w.delete(posts[0])
	ben = w.rename(ben)
	w.rename(anna)
	w.settle()
	w.check()
}
