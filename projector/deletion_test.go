package projector_test

import (
	"fmt"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/projector"
	"cosmosblog/store"
)

// deleteUser deletes a user by the name that they bear.
func (w *world) deleteUser(user *blog.User) {
	w.Helper()
	if _, err := w.store.DeleteUser(w.Context(), user.ID, user.Username); err != nil {
		w.Fatal(err)
	}
}

// isGone holds a deleted user to what must be left of them: a tombstone, and nothing else.
func (w *world) isGone(user *blog.User) {
	w.Helper()
	for _, name := range []string{user.Username, "renamed"} {
		if _, err := w.store.UserByUsername(w.Context(), name); blog.CodeOf(err) != blog.NotFound {
			w.Errorf("%s: %v", name, err)
		}
	}
	change, err := w.store.Change(w.Context(), store.UsersContainer, user.ID, user.ID)
	if err != nil || !change.Deleted || !change.Expires || change.User.Username != "" {
		w.Errorf("the user item is %+v, %v", change, err)
	}
	if deletions, err := w.store.Deletions(w.Context()); err != nil || len(deletions) != 0 {
		w.Errorf("pending deletions: %v, %v", deletions, err)
	}
}

// activeUser makes a user with posts, comments and likes of their own and of others, and one thing of each kind that is
// deleted already.
func (w *world) activeUser() (user, other *blog.User, others *blog.Post) {
	w.Helper()
	user, other = w.user(), w.user()
	mine, others := w.posts(user, 3), w.post(other)
	w.comment(other, mine[0])
	w.comment(user, mine[0])
	w.like(other, mine[1])
	w.comment(user, others)
	comment := w.comment(user, others)
	w.comment(other, others)
	w.like(user, others)
	w.like(other, others)
	w.delete(mine[2])
	if _, err := w.store.DeleteComment(w.Context(), user.ID, others.ID, comment.ID); err != nil {
		w.Fatal(err)
	}
	return user, other, others
}

func TestADeletedUserIsGoneFromEverywhere(t *testing.T) {
	w := newWorld(t)
	user, other, others := w.activeUser()
	w.settle()
	w.deleteUser(user)
	w.settle()
	w.check()
	w.isGone(user)
	post, err := w.store.Post(t.Context(), others.ID)
	if err != nil || post.CommentCount != 1 || post.LikeCount != 1 {
		t.Errorf("what others wrote is %+v, %v", post, err)
	}
	if other, err := w.store.User(t.Context(), other.ID); err != nil || other.PostCount != 1 {
		t.Errorf("the other user is %+v, %v", other, err)
	}
	if _, err := w.store.UpdateUser(t.Context(), other.ID, user.Username); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

// What a command that had read the user wrote after the first pass goes by the last one, and until then nobody takes the
// user's place.
func TestTheLastPassCatchesWhoRacedTheDeletion(t *testing.T) {
	w := newWorld(t)
	user, _, others := w.activeUser()
	account, name := blog.Account{Issuer: "test", Subject: "1"}, user.Username
	w.deleteUser(user)
	p := w.projector(w.store)
	settle := func() {
		t.Helper()
		if err := p.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	w.post(user)
	w.comment(user, others)
	w.like(user, others)
	for _, advance := range []time.Duration{0, 15*time.Second - 1, 1} {
		if _, err := w.store.CreateUser(t.Context(), account, name); blog.CodeOf(err) != blog.Conflict {
			t.Errorf("the user was made anew while being deleted: %v", err)
		}
		w.clock.advance(advance)
		settle()
	}
	// What the last pass found waits for one that finds nothing.
	if deletions, err := w.store.Deletions(t.Context()); err != nil || len(deletions) != 1 {
		t.Errorf("pending deletions: %v, %v", deletions, err)
	}
	w.clock.advance(15 * time.Second)
	settle()
	w.isGone(user)
	w.check()

	again, err := w.store.CreateUser(t.Context(), account, name)
	if err != nil || again.ID != user.ID || again.Revision != user.Revision+4 || // the mark, the tombstone, the wish, the name
		again.PostCount != 0 {
		t.Fatalf("the new user is %+v, %v", again, err)
	}
	w.post(again)
	w.comment(again, others)
	w.like(again, others)
	w.rename(again)
	w.settle()
	w.check()
}

// A user who was deleted in the middle of a rename leaves neither name behind.
func TestADeletionAmidARename(t *testing.T) {
	for n := int64(1); ; n++ {
		w := newWorld(t)
		user, _, _ := w.activeUser()
		wire, s := w.wired()
		wire.left.Store(n)
		_, err := s.UpdateUser(t.Context(), user.ID, "renamed")
		if now, _ := w.store.User(t.Context(), user.ID); now.Username != user.Username {
			return
		}
		if err == nil {
			t.Fatal("the rename ended without effect")
		}
		w.deleteUser(user)
		w.settle()
		w.check()
		w.isGone(user)
		if other, err := w.store.CreateUser(t.Context(), blog.Account{Subject: "someone else"}, "Renamed"); err != nil {
			t.Fatalf("after %d requests: %+v, %v", n, other, err)
		}
	}
}

// A projector that dies between any two requests of a deletion, in its first pass or its last, leaves nothing that the
// next one does not finish.
func TestADeathAmidADeletion(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		for pass := range 2 {
			t.Run(fmt.Sprintf("answerLost=%v, pass %d", answerLost, pass), func(t *testing.T) {
				for n := firstCrash(); deletionDiesAfter(t, pass, n, answerLost); n += *strideFlag {
				}
			})
		}
	}
}

func deletionDiesAfter(t *testing.T, pass int, n int64, answerLost bool) (died bool) {
	w := newWorld(t)
	user, _, others := w.activeUser()
	w.settle()
	w.deleteUser(user)
	wire, s := w.wired()
	p := w.projector(s, func(o *projector.Options) { o.Parallel = 1 })
	if pass > 0 {
		if err := p.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.comment(user, others) // by a command that had read the user
		w.clock.advance(time.Minute)
		if err := p.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.advance(time.Minute)
	}
	wire.answerLost = answerLost
	wire.left.Store(n)
	died = p.Settle(t.Context()) != nil
	wire.left.Store(1 << 62)
	w.settle()
	w.check()
	w.isGone(user)
	if t.Failed() {
		t.Fatalf("after a death at request %d", n)
	}
	if !died {
		t.Logf("%d requests", n)
	}
	return died
}

// A count is no change of the user: it neither raises their revision nor starts a sweep, and a user who was renamed is
// swept no more.
func TestCountingPostsStartsNothing(t *testing.T) {
	w := newWorld(t)
	user := w.rename(w.user())
	w.post(user)
	w.settle()
	posts := w.posts(user, 2)
	w.delete(posts[0])
	wire, s := w.wired()
	if err := w.projector(s).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sweeps, err := w.store.Sweeps(t.Context()); err != nil || len(sweeps) != 0 {
		t.Errorf("pending sweeps: %v, %v", sweeps, err)
	}
	if n := wire.writesTo("users"); n != 2 {
		t.Errorf("%d writes to users", n)
	}
	now, err := w.store.User(t.Context(), user.ID)
	if err != nil || now.PostCount != 2 || now.Revision != user.Revision {
		t.Errorf("%+v, %v", now, err)
	}
	w.check()
}

// A deletion whose end is refused, here by a reservation that cannot be read, is set aside, holds up nobody else's, and is done when
// it is retried.
func TestADeletionThatCannotEndIsSetAside(t *testing.T) {
	s := newScene(t, 0)
	name := s.ben.Username
	s.change("usernames", name, name, item{"userId": 7})
	s.deleteUser(s.ben)
	s.deleteUser(s.anna)
	s.settle()
	s.isGone(s.anna)
	letters := s.letters()
	if len(letters) != 1 || letters[0].Projection != "deletions" || letters[0].ItemID != s.ben.ID || letters[0].Attempts != 5 {
		t.Errorf("set aside: %+v", letters)
	}
	s.change("usernames", name, name, item{"userId": s.ben.ID})
	s.retryAll(nil)
	s.settle()
	s.check()
	s.isGone(s.ben)
}
