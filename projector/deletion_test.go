package projector_test

import (
	"fmt"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/schema"
)

// deleteUser deletes a user, with the current username as confirmation.
func (w *world) deleteUser(user *blog.User) {
	w.Helper()
	if _, err := w.store.DeleteUser(w.Context(), user.ID, user.Username); err != nil {
		w.Fatal(err)
	}
}

// wantUserGone checks that a deleted user is a tombstone and has left nothing else.
func (w *world) wantUserGone(user *blog.User) {
	w.Helper()
	for _, name := range []string{user.Username, "renamed"} {
		if _, err := w.store.UserByUsername(w.Context(), name); blog.CodeOf(err) != blog.NotFound {
			w.Errorf("%s: %v", name, err)
		}
	}
	change, err := w.store.Change(w.Context(), schema.Users, user.ID, user.ID)
	if err != nil || !change.Deleted || !change.Expires || change.User.Username != "" {
		w.Errorf("the user item is %+v, %v", change, err)
	}
	if deletions, err := w.store.Deletions(w.Context()); err != nil || len(deletions) != 0 {
		w.Errorf("pending deletions: %v, %v", deletions, err)
	}
}

// activeUser creates a user with posts, with comments and likes on their own and other posts,
// and with one deleted item of each kind.
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

// All items of a deleted user are deleted, and the counts of others are correct.
func TestDeletedUser(t *testing.T) {
	w := newWorld(t)
	user, other, others := w.activeUser()
	w.settle()
	w.deleteUser(user)
	w.settle()
	w.wantViewsEqualSource()
	w.wantUserGone(user)
	post, err := w.store.Post(t.Context(), others.ID)
	if err != nil || post.CommentCount != 1 || post.LikeCount != 1 {
		t.Errorf("the other user's post is %+v, %v", post, err)
	}
	if other, err := w.store.User(t.Context(), other.ID); err != nil || other.PostCount != 1 {
		t.Errorf("the other user is %+v, %v", other, err)
	}
	if _, err := w.store.UpdateUser(t.Context(), other.ID, user.Username); err != nil {
		t.Errorf("the username is not free: %v", err)
	}
}

// The last pass deletes items that a command wrote after the first pass, with a user read
// before. Until then the account cannot get a new user.
func TestLastPassDeletesLateItems(t *testing.T) {
	w := newWorld(t)
	user, _, others := w.activeUser()
	account, name := blog.Account{Issuer: "test", Subject: "1"}, user.Username
	w.deleteUser(user)
	p := w.projector(w.store)
	settle := func() {
		t.Helper()
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	w.post(user)
	w.comment(user, others)
	w.like(user, others)
	for _, advance := range []time.Duration{0, store.SettleTime - 1, 1} {
		if _, err := w.store.CreateUser(t.Context(), account, name); blog.CodeOf(err) != blog.DeletionUnderWay {
			t.Errorf("the user was created during the deletion: %v", err)
		}
		w.clock.Advance(advance)
		settle()
	}
	// A pass that finds items is followed by another.
	if deletions, err := w.store.Deletions(t.Context()); err != nil || len(deletions) != 1 {
		t.Errorf("pending deletions: %v, %v", deletions, err)
	}
	w.clock.Advance(store.SettleTime)
	settle()
	w.wantUserGone(user)
	w.wantViewsEqualSource()

	again, err := w.store.CreateUser(t.Context(), account, name)
	// Four revisions: marked as deleted, tombstone, username reserved, username set.
	if err != nil || again.ID != user.ID || again.Revision != user.Revision+4 ||
		again.PostCount != 0 {
		t.Fatalf("the new user is %+v, %v", again, err)
	}
	w.post(again)
	w.comment(again, others)
	w.like(again, others)
	w.rename(again)
	w.settle()
	w.wantViewsEqualSource()
}

// A projector may die at any request of a deletion, in its first pass or its last. The next
// projector finishes the deletion.
func TestCrashDuringDeletion(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		for pass := range 2 {
			t.Run(fmt.Sprintf("answerLost=%v, pass %d", answerLost, pass), func(t *testing.T) {
				for n := firstCrash(t); crashDuringDeletion(t, pass, n, answerLost); n += *strideFlag {
				}
			})
		}
	}
}

func crashDuringDeletion(t *testing.T, pass int, n int64, answerLost bool) (died bool) {
	w := newWorld(t)
	user, _, others := w.activeUser()
	w.settle()
	w.deleteUser(user)
	wire, s := w.wired()
	p := w.projector(s, func(o *projector.Options) { o.Parallel = 1 })
	if pass > 0 {
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.comment(user, others) // by a command that had read the user
		w.clock.Advance(time.Minute)
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Minute)
	}
	wire.answerLost = answerLost
	wire.left.Store(n)
	died = p.SettleForTests(t.Context()) != nil
	wire.left.Store(1 << 62)
	w.settle()
	w.wantViewsEqualSource()
	w.wantUserGone(user)
	if t.Failed() {
		t.Fatalf("after a crash at request %d", n)
	}
	if !died {
		t.Logf("%d requests", n)
	}
	return died
}

// An update of the post count neither raises the user's revision nor starts a sweep.
func TestPostCountStartsNoSweep(t *testing.T) {
	w := newWorld(t)
	user := w.rename(w.user())
	w.post(user)
	w.settle()
	posts := w.posts(user, 2)
	w.delete(posts[0])
	wire, s := w.wired()
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sweeps, err := w.store.Sweeps(t.Context()); err != nil || len(sweeps) != 0 {
		t.Errorf("pending sweeps: %v, %v", sweeps, err)
	}
	if n := wire.writesTo("users"); n != 4 { // each copy is written, and marked as listed
		t.Errorf("%d writes to users", n)
	}
	now, err := w.store.User(t.Context(), user.ID)
	if err != nil || now.PostCount != 2 || now.Revision != user.Revision {
		t.Errorf("%+v, %v", now, err)
	}
	w.wantViewsEqualSource()
}

// A deletion whose end is refused, here by an undecodable reservation, is set aside. It does
// not block other deletions, and a retry finishes it.
func TestRefusedDeletionIsSetAside(t *testing.T) {
	s := newScene(t, 0)
	name := s.ben.Username
	s.change("usernames", name, name, item{"userId": 7})
	s.deleteUser(s.ben)
	s.deleteUser(s.anna)
	s.settle()
	s.wantUserGone(s.anna)
	letters := s.letters()
	if len(letters) != 1 || letters[0].Projection != "deletions" || letters[0].ItemID != s.ben.ID || letters[0].Attempts != 5 {
		t.Errorf("set aside: %+v", letters)
	}
	s.change("usernames", name, name, item{"userId": s.ben.ID})
	s.retryAll(nil)
	s.settle()
	s.wantViewsEqualSource()
	s.wantUserGone(s.ben)
}
