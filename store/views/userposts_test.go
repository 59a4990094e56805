package views_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/storetest"
)

// countsPosts holds a user's postCount to a number, and both to their list.
func (w *world) countsPosts(userID string, want int) {
	w.T.Helper()
	user, err := w.User(w.Ctx(), userID)
	w.OK(err)
	listed := len(storetest.ListAll(w.World, userID, w.UserPosts))
	if user.PostCount != want || listed != want {
		w.T.Errorf("%d posts are counted and %d listed, want %d", user.PostCount, listed, want)
	}
}

// owned is stated for a post of a user.
func owned(user *blog.User, id string, date blog.DateTime, revision int64, deleted bool) *blog.Post {
	post := storetest.PostAtRevision(id, date, revision, deleted)
	post.Author = user
	return post
}

// States of posts come in any order, more than once, and at the same time: the count is that of
// the copies.
func TestPostCountIsOfTheCopies(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	live := 0
	for round := range 40 {
		var group sync.WaitGroup
		deletedFrom, newest := 1+random.Int64N(12), int64(0)
		for range cosmos.MaxConflictRetries {
			revision := 1 + random.Int64N(9)
			newest = max(newest, revision)
			group.Go(func() {
				post := owned(user, fmt.Sprint("p_", round), w.Clock.Date(), revision, revision >= deletedFrom)
				if _, err := w.ProjectUserPost(t.Context(), post); err != nil {
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

// A copy and its count are one transaction, also where the answer to it is lost and it is
// projected again.
func TestPostCountSurvivesLostAnswers(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	for i, state := range []struct {
		revision int64
		deleted  bool
		want     int
	}{{1, false, 1}, {2, false, 1}, {3, true, 0}} {
		post := owned(user, "p_1", w.Clock.Date(), state.revision, state.deleted)
		w.Faults.Set(storetest.OnlyWrites(storetest.CutAfter(1)))
		_, err := w.ProjectUserPost(t.Context(), post)
		w.Faults.Set(nil)
		if err == nil {
			t.Fatalf("%d: the answer was not lost", i)
		}
		written, err := w.ProjectUserPost(t.Context(), post)
		w.OK(err)
		if written {
			t.Errorf("%d: written twice", i)
		}
		w.countsPosts(user.ID, state.want)
	}
}

// A post that was deleted before it was ever seen is not counted, and one whose author is gone
// has its copy all the same.
func TestPostsThatAreNotCounted(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	_, err := w.ProjectUserPost(t.Context(), owned(user, "p_1", w.Clock.Date(), 2, true))
	w.OK(err)
	w.countsPosts(user.ID, 0)
	written, err := w.ProjectUserPost(t.Context(), storetest.PostAtRevision("p_2", w.Clock.Date(), 1, false))
	w.OK(err)
	if listed := storetest.ListAll(w.World, "u_a", w.UserPosts); !written || len(listed) != 1 {
		t.Errorf("written %v, listed %v", written, listed)
	}
}

// A user whose posts are counted between any two requests of a rename or a deletion is renamed
// and deleted all the same, without a second try.
func TestCountsDoNotDisturbNaming(t *testing.T) {
	w := newWorld(t)
	user := w.AddUser("Ada")
	counting, n := w.another(), 0
	count := func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		n++
		_, err := counting.ProjectUserPost(t.Context(), owned(user, fmt.Sprint("p_", n), w.Clock.Date(), 1, false))
		w.OK(err)
		return next.Do(request)
	}
	w.Faults.Set(count)
	_, err := w.UpdateUser(t.Context(), user.ID, "Augusta")
	w.OK(err)
	if sent := len(w.Faults.Requests()); sent != 8 {
		t.Errorf("%d requests", sent)
	}
	w.Faults.Set(nil)
	w.countsPosts(user.ID, n)
	w.Faults.Set(count)
	_, err = w.DeleteUser(t.Context(), user.ID, "Augusta")
	w.OK(err)
	if sent := len(w.Faults.Requests()); sent != 2 {
		t.Errorf("%d requests", sent)
	}
}
