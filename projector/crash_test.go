package projector_test

import (
	"fmt"
	"testing"
)

// A projector may die between any two requests, or before the answer to its last one. The next
// projector finishes its work.
func TestCrashAtAnyRequest(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		t.Run(fmt.Sprintf("answerLost=%v", answerLost), func(t *testing.T) {
			for n := firstCrash(t); crashAfter(t, n, answerLost); n += *strideFlag {
			}
		})
	}
}

// crashAfter runs a projector that dies after n requests, and then another one. It reports
// whether the first died.
func crashAfter(t *testing.T, n int64, answerLost bool) (died bool) {
	w := newWorld(t)
	anna, ben := w.user(), w.user()
	posts := w.posts(anna, 4)
	comment := w.comment(ben, posts[0])
	w.comment(anna, posts[1])
	w.like(ben, posts[1])
	w.settle()

	w.posts(ben, 2)
	w.like(anna, posts[0])
	if _, err := w.store.DeleteComment(t.Context(), ben.ID, posts[0].ID, comment.ID); err != nil {
		t.Fatal(err)
	}
	w.delete(posts[1])
	w.delete(posts[2])
	w.rename(ben)

	wire, s := w.wired()
	p := w.projector(s)
	wire.answerLost = answerLost
	wire.left.Store(n)
	died = p.SettleForTests(t.Context()) != nil
	w.settle()
	w.wantViewsEqualSource()
	if t.Failed() {
		t.Fatalf("after a crash at request %d", n)
	}
	if !died {
		t.Logf("%d requests", n)
	}
	return died
}
