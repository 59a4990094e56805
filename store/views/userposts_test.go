package views_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
)

// countsPosts checks a user's postCount and the length of their list.
func (w *world) countsPosts(userID string, want int) {
	w.T.Helper()
	user, err := w.User(w.Ctx(), userID)
	w.OK(err)
	listed := len(storetest.ListAll(w.World, userID, w.UserPosts))
	if user.PostCount != want || listed != want {
		w.T.Errorf("%d posts are counted and %d listed, want %d", user.PostCount, listed, want)
	}
}

// owned returns a user's post in the state of a revision.
func owned(user *blog.User, id string, date blog.DateTime, revision int64, deleted bool) *blog.Post {
	post := storetest.PostAtRevision(id, date, revision, deleted)
	post.Author = user
	return post
}

// The post count equals the number of live copies, in whatever order, however often and however
// concurrently the states of posts are projected.
func TestPostCountEqualsCopies(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	seed := testseed.Of(t)
	random := rand.New(rand.NewPCG(seed, 0))
	live := 0
	for round := range 40 {
		var group sync.WaitGroup
		deletedFrom, newest := 1+random.Int64N(12), int64(0)
		for range cosmos.MaxConflictTries {
			revision := 1 + random.Int64N(9)
			newest = max(newest, revision)
			group.Go(func() {
				post := owned(user, fmt.Sprint("p_", round), w.Clock.Date(), revision, revision >= deletedFrom)
				_, err := w.UserPostView(post.Author.ID).Project(t.Context(), post)
				for tries := 1; cosmos.IsConflict(err) && tries < 10; tries++ { // as a projector does: each of them writes twice
					_, err = w.UserPostView(post.Author.ID).Project(t.Context(), post)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if newest < deletedFrom {
			live++
		}
	}
	w.countsPosts(user.ID, live)
	if now, err := w.User(t.Context(), user.ID); err != nil || now.Revision != user.Revision {
		t.Errorf("counting changed the user: %+v, %v", now, err)
	}
}

// A copy and its count are written in one transaction, so a projection can be repeated after a
// lost answer.
func TestPostCountSurvivesLostAnswers(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	for i, state := range []struct {
		revision int64
		deleted  bool
		want     int
	}{{1, false, 1}, {2, false, 1}, {3, true, 0}} {
		post := owned(user, "p_1", w.Clock.Date(), state.revision, state.deleted)
		w.Wire.Inject(cosmostest.Writes(cosmostest.Nth(1, storetest.CutAfter)))
		_, err := w.UserPostView(post.Author.ID).Project(t.Context(), post)
		w.Wire.Inject(nil)
		if err == nil {
			t.Fatalf("%d: the answer was not lost", i)
		}
		written, err := w.UserPostView(post.Author.ID).Project(t.Context(), post)
		w.OK(err)
		if written {
			t.Errorf("%d: written twice", i)
		}
		w.countsPosts(user.ID, state.want)
	}
}

// A post that was deleted before its first projection is not counted. A post whose author is
// missing has a copy nevertheless.
func TestUncountedPosts(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	_, err := w.UserPostView(user.ID).Project(t.Context(), owned(user, "p_1", w.Clock.Date(), 2, true))
	w.OK(err)
	w.countsPosts(user.ID, 0)
	written, err := w.UserPostView("u_a").Project(t.Context(), storetest.PostAtRevision("p_2", w.Clock.Date(), 1, false))
	w.OK(err)
	if listed := storetest.ListAll(w.World, "u_a", w.UserPosts); !written || len(listed) != 1 {
		t.Errorf("written %v, listed %v", written, listed)
	}
}

// Renames and deletions of a user succeed at the first try, although the user's posts are counted
// between any two of their requests.
func TestCountingDoesNotDelayRenames(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	counting, n := w.another(), 0
	count := func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		n++
		_, err := counting.UserPostView(user.ID).Project(t.Context(), owned(user, fmt.Sprint("p_", n), w.Clock.Date(), 1, false))
		w.OK(err)
		return next.Do(request)
	}
	w.Wire.Inject(count)
	_, err := w.UpdateUser(t.Context(), user.ID, "Augusta")
	w.OK(err)
	if sent := len(w.Wire.Requests()); sent != 10 {
		t.Errorf("%d requests", sent)
	}
	w.Wire.Inject(nil)
	w.countsPosts(user.ID, n)
	w.Wire.Inject(count)
	_, err = w.DeleteUser(t.Context(), user.ID, "Augusta")
	w.OK(err)
	if sent := len(w.Wire.Requests()); sent != 3 {
		t.Errorf("%d requests", sent)
	}
}
