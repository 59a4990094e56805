package projector_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/proof/testseed"
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

// A post changes its tags ten times while projectors die. Afterwards, it is in exactly the lists of
// its last state.
func TestTagsChangeWhileProjectorsDie(t *testing.T) {
	seed := testseed.Of(t)
	for round := range uint64(*tagRoundsFlag) {
		w := newWorld(t)
		random := rand.New(rand.NewPCG(seed, round))
		author := w.user()
		post := w.post(author)
		w.posts(author, 1)
		for n := range 10 {
			if n == 5 {
				w.like(author, post)
				w.rename(author)
			}
			tags := []string{"common", fmt.Sprint("tag-", n), fmt.Sprint("tag-", random.IntN(n+1))}
			random.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
			w.retag(post, slices.Compact(slices.Sorted(slices.Values(tags[:random.IntN(4)])))...)
			wire, s := w.wired()
			p := w.projector(s)
			wire.answerLost = random.IntN(2) == 0
			wire.left.Store(random.Int64N(40))
			_ = p.SettleForTests(t.Context()) // dies, unless it needs fewer requests
		}
		w.settle()
		w.wantViewsEqualSource()
		w.wantNoDrift()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

var tagRoundsFlag = flag.Int("tag-rounds", 3, "number of posts of TestTagsChangeWhileProjectorsDie")

// retag replaces the tags of a post.
func (w *world) retag(post *blog.Post, tags ...string) {
	w.Helper()
	if _, err := w.store.UpdatePost(w.Context(), post.Author.ID, post.ID, blog.PostChange{Tags: append([]string{}, tags...)}); err != nil {
		w.Fatal(err)
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
	w.retag(posts[0], "rare")
	w.retag(posts[3], "rare", "common")
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
