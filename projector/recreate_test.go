package projector_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/chores"
	"cosmosblog/store/schema"
)

// Running projectors read a recreated container from its beginning, whatever its number of feed
// ranges and however far they had read the former container. Unless -stride is 1, each run tests
// one number of posts for each change of the ranges.
func TestRecreatedContainerUnderRunningProjectors(t *testing.T) {
	for _, ranges := range [][2]int{{1, 1}, {1, 4}, {4, 1}} {
		for _, posts := range someOf(t, []int{0, 1, 20}, 1) { // before
			t.Run(fmt.Sprintf("%d posts, from %d ranges to %d", posts, ranges[0], ranges[1]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testRecreated(t, ranges[0], ranges[1], posts) })
			})
		}
	}
}

func testRecreated(t *testing.T, rangesBefore, ranges, posts int) {
	w := newWorldOf(t, rangesBefore)
	members := w.members(2, func(o *projector.Options) { o.Poll = time.Second })
	anna, ben := w.user(), w.user()
	w.posts(anna, posts)
	advanceTime(10 * balance)
	w.remove(schema.Posts)
	advanceTime(10 * balance)                                 // the container is missing for a while
	w.open(storetest.Divided(inprocess.To(w.engine), ranges)) // creates what is missing
	again := w.posts(anna, 3)
	advanceTime(10 * balance)
	w.like(ben, again[2])
	advanceTime(10 * balance)
	if !w.feedShows(again[2], 1)() {
		t.Error("the feed lacks the posts of the recreated container")
	}
	w.wantLeases(schema.Posts, ranges)
	resourceID, err := w.store.ResourceID(t.Context(), schema.Posts)
	for _, lease := range w.leasesOf(schema.Posts) {
		if lease.ResourceID != resourceID || err != nil {
			t.Errorf("lease %+v, want resource id %s, error %v", lease, resourceID, err)
		}
	}
	for _, m := range members {
		m.stop()
	}
}

// While one container is missing, the leases of the other are still balanced and taken over.
func TestMissingContainerDoesNotBlockTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 2)
		advanceTime(balance)
		members := w.members(2)
		advanceTime(10 * balance)
		w.remove(schema.Posts)
		members[0].wire.left.Store(0)
		advanceTime(expire + 2*balance)
		for _, lease := range w.leasesOf(schema.Users) {
			if lease.Owner != w.owners()["lease.sweeps"] {
				t.Errorf("%s is owned by %s", lease.ID, lease.Owner)
			}
		}
		for _, m := range members {
			m.stop()
		}
	})
}

// A container that is recreated with fewer feed ranges gets as many leases, even if the readers
// of the former ranges notice at once.
func TestContainerRecreatedAtOnceWithFewerRanges(t *testing.T) {
	for _, posts := range []int{0, 20} { // before
		synctest.Test(t, func(t *testing.T) {
			w := newWorldOf(t, 4)
			m := w.members(1, func(o *projector.Options) { o.Poll = time.Second })[0]
			defer m.stop()
			anna := w.user()
			w.posts(anna, posts)
			advanceTime(10*balance + time.Second)
			w.remove(schema.Posts)
			w.open(storetest.Divided(inprocess.To(w.engine), 1)) // creates what is missing
			w.posts(anna, 3)
			advanceTime(10 * balance)
			w.wantLeases(schema.Posts, 1)
		})
	}
}

// SettleForTests projects all items of a container that was recreated with fewer feed ranges.
func TestSettleContainerRecreatedWithFewerRanges(t *testing.T) {
	w := newWorldOf(t, 4)
	anna := w.user()
	w.posts(anna, 20)
	w.settle()
	w.remove(schema.Posts)
	w.open(storetest.Divided(inprocess.To(w.engine), 1)) // creates what is missing
	post := w.posts(anna, 3)[2]
	if err := w.projector(w.store).SettleForTests(t.Context()); err != nil || !w.feedShows(post, 0)() {
		t.Errorf("the feed does not show the newest post, %v", err)
	}
	w.wantLeases(schema.Posts, 1)
}

// After the container users is recreated, renames of a user are swept even if the former user
// of the same id was renamed more often.
func TestRenamesInRecreatedUsersAreSwept(t *testing.T) {
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
	w.wantViewsEqualSource()
}

// A pending deletion from before users was recreated deletes nothing of the current user of the
// same id.
func TestStaleDeletionSparesRecreatedUser(t *testing.T) {
	w := newWorld(t)
	account := blog.Account{Issuer: "test", Subject: "again"}
	user, err := w.store.CreateUser(t.Context(), account, "first")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.RecordDeletion(t.Context(), chores.Deletion{UserID: user.ID, Revision: 9}); err != nil {
		t.Fatal(err)
	}
	post := w.post(user)
	w.settle()
	if _, err := w.store.Post(t.Context(), post.ID); err != nil {
		t.Errorf("the post is gone: %v", err)
	}
	w.retryAll(nil)
	w.wantViewsEqualSource()
}
