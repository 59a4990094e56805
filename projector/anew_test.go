package projector_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/projector"
	"cosmosblog/store"
)

// A container that is made anew under its name, with however many ranges and however far the one before was read, is read
// from its beginning by the projectors that run.
func TestAContainerIsMadeAnewUnderRunningProjectors(t *testing.T) {
	for _, ranges := range [][2]int{{1, 1}, {1, 4}, {4, 1}} {
		for _, posts := range []int{0, 1, 20} { // before
			t.Run(fmt.Sprintf("%d posts, from %d ranges to %d", posts, ranges[0], ranges[1]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { madeAnew(t, ranges[0], ranges[1], posts) })
			})
		}
	}
}

func madeAnew(t *testing.T, rangesBefore, ranges, posts int) {
	w := newWorldOf(t, rangesBefore)
	members := w.members(2, func(o *projector.Options) { o.Poll = time.Second })
	anna, ben := w.user(), w.user()
	w.posts(anna, posts)
	pass(10 * balance)
	w.remove(store.PostsContainer)
	pass(10 * balance)                                 // it is away for a while
	w.open(divided{store.InProcess(w.engine), ranges}) // makes what is missing
	again := w.posts(anna, 3)
	pass(10 * balance)
	w.like(ben, again[2])
	pass(10 * balance)
	if !w.feedShows(again[2], 1)() {
		t.Error("the posts of the new container are not in the feed")
	}
	w.isDividedInto(store.PostsContainer, ranges)
	resourceID, err := w.store.ResourceID(t.Context(), store.PostsContainer)
	for _, lease := range w.leasesOf(store.PostsContainer) {
		if lease.ResourceID != resourceID || err != nil {
			t.Errorf("%+v is not of %s, %v", lease, resourceID, err)
		}
	}
	for _, m := range members {
		m.stop()
	}
}

// While one container is away, the leases of the other are shared and taken over as ever.
func TestWhileOneContainerIsAwayTheOtherGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 2)
		pass(balance)
		members := w.members(2)
		pass(10 * balance)
		w.remove(store.PostsContainer)
		members[0].wire.left.Store(0)
		pass(expire + 2*balance)
		for _, lease := range w.leasesOf(store.UsersContainer) {
			if lease.Owner != w.owners()["lease.sweeps"] {
				t.Errorf("%s belongs to %s", lease.ID, lease.Owner)
			}
		}
		for _, m := range members {
			m.stop()
		}
	})
}

// A container that is made anew with fewer ranges gets as many leases, however soon the readers of those before find out.
func TestAContainerMadeAnewAtOnceWithFewerRanges(t *testing.T) {
	for _, posts := range []int{0, 20} { // before
		synctest.Test(t, func(t *testing.T) {
			w := newWorldOf(t, 4)
			m := w.members(1, func(o *projector.Options) { o.Poll = 100 * time.Millisecond })[0]
			defer m.stop()
			anna := w.user()
			w.posts(anna, posts)
			pass(10*balance + time.Second)
			w.remove(store.PostsContainer)
			w.open(divided{store.InProcess(w.engine), 1}) // makes what is missing
			w.posts(anna, 3)
			pass(10 * balance)
			w.isDividedInto(store.PostsContainer, 1)
		})
	}
}

// Settle projects all that is in such a container, too.
func TestSettlingAContainerMadeAnewWithFewerRanges(t *testing.T) {
	w := newWorldOf(t, 4)
	anna := w.user()
	w.posts(anna, 20)
	w.settle()
	w.remove(store.PostsContainer)
	w.open(divided{store.InProcess(w.engine), 1}) // makes what is missing
	post := w.posts(anna, 3)[2]
	if err := w.projector(w.store).Settle(t.Context()); err != nil || !w.feedShows(post, 0)() {
		t.Errorf("the feed does not show the newest post, %v", err)
	}
	w.isDividedInto(store.PostsContainer, 1)
}

// A rename of somebody who bears the id of a user from before users was made anew is swept, though that one had more of them.
func TestUsersMadeAnewAreSwept(t *testing.T) {
	w := newWorld(t)
	account := blog.Account{Issuer: "test", Subject: "again"}
	sign := func() *blog.User {
		t.Helper()
		user, err := w.store.CreateUser(t.Context(), account, "first")
		if err != nil {
			t.Fatal(err)
		}
		return user
	}
	user := sign()
	for range 5 {
		user = w.rename(user)
	}
	w.settle()
	for _, container := range []string{"users", "usernames"} {
		w.recreate(container)
	}
	w.store = w.open(nil)
	user = sign()
	w.comment(user, w.post(user))
	w.rename(user)
	w.settle()
	w.check()
}

// A deletion that is pending from before users was made anew takes nothing of who bears the id now.
func TestUsersMadeAnewAreNotDeleted(t *testing.T) {
	w := newWorld(t)
	account := blog.Account{Issuer: "test", Subject: "again"}
	user, err := w.store.CreateUser(t.Context(), account, "first")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.RecordDeletion(t.Context(), store.Deletion{UserID: user.ID, Revision: 9}); err != nil {
		t.Fatal(err)
	}
	post := w.post(user)
	w.settle()
	if _, err := w.store.Post(t.Context(), post.ID); err != nil {
		t.Errorf("the post is gone: %v", err)
	}
	w.retryAll(nil)
	w.check()
}
