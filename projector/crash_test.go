//go:build ci

package projector_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
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
	if _, err := w.store.UpdatePost(w.Context(), post.Author.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Tags: append([]string{}, tags...)}}); err != nil {
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

// The checkpoint that passes a change has the states of the views that contain it, also if another
// attempt has written them: a client that waits for the checkpoint reads no views of before.
func TestCheckpointHasStatesOfEarlierAttempts(t *testing.T) {
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d ranges", ranges), func(t *testing.T) {
			n := 1
			for checkpointAfterCrash(t, ranges, n) {
				n++
			}
			if n < 5 {
				t.Errorf("a projector wrote to leases %d times", n-1)
			}
		})
	}
}

// checkpointAfterCrash runs a projector that dies before its write number n to leases, and then
// another one. It reports whether the first died.
func checkpointAfterCrash(t *testing.T, ranges, n int) (died bool) {
	w := newWorldOf(t, ranges)
	author := w.user()
	edited, deleted := w.posts(author, 2)[0], w.post(author)
	w.settle()
	before := w.statesOfViews()
	w.retag(edited, "rare")
	w.delete(deleted)
	wire, s := w.wired()
	var writes atomic.Int64
	wire.refuse = func(request *http.Request) int {
		if containerOf(request) != schema.Leases || !isWrite(request) || writes.Add(1) != int64(n) {
			return 0
		}
		wire.left.Store(0)
		return http.StatusServiceUnavailable
	}
	died = w.projector(s).SettleForTests(t.Context()) != nil
	w.like(author, edited) // the copy of the edit is patched, and not read
	w.must(w.projector(w.store).SettleForTests(t.Context()))

	leases, err := changefeed.New(w.store.DB).Leases(t.Context())
	w.must(err)
	checkpoint := cosmos.SessionTokens{}
	for _, lease := range leases {
		views, err := cosmos.ParseSessionTokens(lease.Views)
		if w.must(err); lease.Container == schema.Posts {
			checkpoint.Merge(views)
		}
	}
	for view, token := range w.statesOfViews() {
		for id, position := range token {
			if position != before[view][id] && !checkpoint[view].Covers(id+":"+position) {
				t.Fatalf("after a crash before write %d, the checkpoint has %s of %s, which is at %s", n, checkpoint[view], view, token)
			}
		}
	}
	return died
}

// statesOfViews returns the latest states of the views.
func (w *world) statesOfViews() cosmos.SessionTokens {
	session, feeds := cosmos.WithSession(w.Context()), changefeed.New(w.store.DB)
	for _, view := range []string{schema.Users, schema.Feed, schema.Lists} {
		w.must(feeds.AdvanceSession(session, view))
	}
	return cosmos.SeenInSession(session)
}
