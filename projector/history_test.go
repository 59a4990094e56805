package projector_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/store/audit"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// rebuilds lets a projector rebuild the views of a database.
func (w *world) rebuilds(o *projector.Options) {
	db := o.DB
	o.Rebuild = func(ctx context.Context, _ string) error {
		_, err := audit.Rebuild(ctx, db, audit.Options{})
		return err
	}
}

// newLosingWorld returns a world whose account can go back to an earlier state.
func newLosingWorld(t *testing.T, ranges int) *world {
	return newWorldOn(t, ranges, cosmostest.Options{Follower: true})
}

// If posts alone loses its last writes, the projectors notice, and the views become those of what
// is left: also of posts that were edited before and after, whose revisions come again, and of
// those that are gone. Before, changes were skipped without a sign, and edits were refused.
func TestPostsGoBack(t *testing.T) {
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) { testPostsGoBack(t, ranges) })
	}
}

func testPostsGoBack(t *testing.T, ranges int) {
	synctest.Test(t, func(t *testing.T) {
		w := newLosingWorld(t, ranges)
		stop := []func(){}
		for range 2 {
			_, end := w.run(w.store, w.rebuilds, func(o *projector.Options) { o.Poll = time.Second })
			stop = append(stop, end)
		}
		anna, ben := w.user(), w.user()
		kept := w.posts(anna, 3)
		time.Sleep(20 * time.Second)
		w.engine.Follower.Lead()
		for range 3 {
			w.edit(anna, kept[0], "A lost title")
		}
		w.like(ben, kept[1])
		w.posts(anna, 2)
		time.Sleep(20 * time.Second)
		w.engine.LoseWrites(schema.Posts)
		w.edit(anna, kept[0], "A new title")
		w.posts(ben, 1)
		time.Sleep(follow.BeyondEndLimit + time.Minute) // if only an empty range lost something, nothing tells earlier
		history, err := w.store.History(t.Context())
		if w.must(err); history.Name == "" || !history.IsRebuilt || !strings.Contains(history.Reason, schema.Posts) {
			t.Errorf("the history is %+v", history)
		}
		w.edit(anna, kept[2], "Another title")
		created := w.posts(anna, 1)
		time.Sleep(20 * time.Second)
		for _, lease := range w.leasesOf(schema.Posts) {
			if lease.History != history.Name || lease.Position == "" {
				t.Errorf("a lease is %+v, in the history %s", lease, history.Name)
			}
		}
		if !w.feedShows(created[0], 0)() {
			t.Error("the feed lacks a new post")
		}
		w.wantNoDrift()
		for _, end := range stop {
			end()
		}
	})
}

// edit gives a post another title.
func (w *world) edit(author *blog.User, post *blog.Post, title string) {
	w.Helper()
	if _, err := w.store.UpdatePost(w.Context(), author.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title}}); err != nil {
		w.Fatal(err)
	}
}

// If a view loses its last writes, the next write to it shows that, and the view is rebuilt.
func TestViewGoesBack(t *testing.T) {
	for _, view := range []string{schema.Feed, schema.Lists, schema.Users} {
		t.Run(view, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newLosingWorld(t, 1)
				_, stop := w.run(w.store, w.rebuilds, func(o *projector.Options) { o.Poll = time.Second })
				defer stop()
				anna := w.user()
				w.posts(anna, 2)
				time.Sleep(20 * time.Second)
				w.engine.Follower.Lead()
				for range 3 {
					w.posts(anna, 1)
					time.Sleep(10 * time.Second)
				}
				w.engine.LoseWrites(view)
				time.Sleep(20 * time.Second)
				w.posts(anna, 1)
				time.Sleep(time.Minute)
				w.wantNoDrift()
				if history, err := w.store.History(t.Context()); err != nil || !history.IsRebuilt || history.Name == "" {
					t.Errorf("the history is %+v, %v", history, err)
				}
			})
		})
	}
}

// TestBeyondTheEndForAMinute restores posts, and starts a projector then. The restored feed shows
// nothing, so no partition can be asked whether its state is lost. The history ends after a minute.
func TestBeyondTheEndForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLosingWorld(t, 1)
		poll := func(o *projector.Options) { o.Poll = time.Second }
		_, stop := w.run(w.store, w.rebuilds, poll)
		anna := w.user()
		kept := w.posts(anna, 2)
		time.Sleep(20 * time.Second)
		w.engine.Follower.Lead()
		w.edit(anna, kept[0], "A lost title")
		time.Sleep(20 * time.Second)
		stop()
		w.engine.Restore(schema.Posts)
		_, stop = w.run(w.store, w.rebuilds, poll, func(o *projector.Options) { o.Owner = "another" })
		defer stop()
		for _, want := range []bool{false, true} {
			time.Sleep(50 * time.Second)
			if history, err := w.store.History(t.Context()); err != nil || (history.Name != "") != want {
				t.Errorf("the history is %+v, %v", history, err)
			}
		}
		w.wantNoDrift()
	})
}

// wayOut is a connection to an account that may fail requests to a container.
type wayOut struct {
	policy.Transporter
	failing atomic.Pointer[string]
}

func (o *wayOut) Do(request *http.Request) (*http.Response, error) {
	target, _ := cosmos.TargetOf(request)
	if failing := o.failing.Load(); failing != nil && target.Container == *failing {
		return nil, errors.New("connection refused")
	}
	return o.Transporter.Do(request)
}

// A step that fails after its write to a view that has lost states has seen that. The next step has
// nothing to write.
func TestViewGoesBackInAFailedStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLosingWorld(t, 1)
		connection := &wayOut{Transporter: inprocess.To(w.engine)}
		_, stop := w.run(w.open(connection), w.rebuilds, func(o *projector.Options) { o.Poll = time.Second })
		defer stop()
		anna := w.user()
		kept := w.posts(anna, 2)
		time.Sleep(20 * time.Second)
		w.engine.Follower.Lead()
		for i := range 3 {
			w.edit(anna, kept[0], fmt.Sprint("Lost title ", i))
			time.Sleep(10 * time.Second)
		}
		w.engine.LoseWrites(schema.Lists)
		time.Sleep(20 * time.Second)
		failing := schema.Feed
		connection.failing.Store(&failing)
		w.edit(anna, kept[1], "A new title")
		time.Sleep(2 * time.Minute)
		connection.failing.Store(nil)
		time.Sleep(time.Minute)
		w.wantNoDrift()
	})
}

// A replica that lags does not end a history, also if it lags for most of a minute.
func TestLaggingReplicaEndsNoHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLosingWorld(t, 1)
		_, stop := w.run(w.store, w.rebuilds, func(o *projector.Options) { o.Poll = time.Second })
		defer stop()
		anna := w.user()
		w.posts(anna, 1)
		for range 5 {
			w.engine.Follower.Lead()
			w.posts(anna, 2)
			time.Sleep(5 * time.Second) // the projector reads them from the leader
			w.engine.Follower.Hold()
			time.Sleep(50 * time.Second)
			w.engine.Follower.CatchUp()
			time.Sleep(time.Second)
		}
		if history, err := w.store.History(t.Context()); err != nil || history.Name != "" {
			t.Errorf("the history is %+v, %v", history, err)
		}
	})
}

// Of several processes that notice the same end at different times, each follows the history that
// the first began.
func TestOneEndOfAHistory(t *testing.T) {
	w := newWorld(t)
	first, err := w.store.EndHistory(t.Context(), "", "the first")
	w.must(err)
	second, err := w.store.EndHistory(t.Context(), "", "the second")
	if w.must(err); second.Name != first.Name || second.Reason != "the first" {
		t.Errorf("the history %+v was followed by %+v", first, second)
	}
	third, err := w.store.EndHistory(t.Context(), first.Name, "another end")
	if w.must(err); third.Name <= first.Name || third.IsRebuilt {
		t.Errorf("the history %+v was followed by %+v", first, third)
	}
	w.must(w.store.NoteRebuilt(t.Context(), first.Name))
	if now, err := w.store.History(t.Context()); err != nil || now.IsRebuilt {
		t.Errorf("the rebuild of an earlier history counts: %+v, %v", now, err)
	}
	w.must(w.store.NoteRebuilt(t.Context(), third.Name))
	if now, err := w.store.History(t.Context()); err != nil || !now.IsRebuilt {
		t.Errorf("the history is %+v, %v", now, err)
	}
}

// While a history has begun and the views are not rebuilt, leases have no position, also if their
// changes are projected: the views may be ahead of their sources. A projector that cannot rebuild
// leaves that to others.
func TestNoPositionBeforeTheRebuild(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 2)
	w.settle()
	_, err := w.store.EndHistory(t.Context(), "", "a test")
	w.must(err)
	for _, lease := range w.leasesOf(schema.Posts) {
		if lease.Position != "" || lease.Views != "" || !follow.IsFromNow(lease.Continuation) {
			t.Errorf("the lease of a history that ended is read as %+v", lease)
		}
	}
	w.settle()
	w.posts(anna, 1)
	w.settle()
	for _, lease := range w.leasesOf(schema.Posts) {
		if lease.Position != "" || follow.IsFromNow(lease.Continuation) {
			t.Errorf("before the rebuild, the lease is %+v", lease)
		}
	}
	p := w.projector(w.store, w.rebuilds)
	for range 3 {
		w.must(p.SettleForTests(t.Context()))
		w.clock.Advance(time.Minute)
	}
	w.posts(anna, 1)
	w.settle()
	for _, lease := range w.leasesOf(schema.Posts) {
		if lease.Position == "" {
			t.Errorf("after the rebuild, the lease is %+v", lease)
		}
	}
	if leases, err := w.store.Leases(t.Context()); err != nil || strings.Contains(leaseIDs(leases), "rebuild") {
		t.Errorf("the leases are %s, %v", leaseIDs(leases), err)
	}
}

func leaseIDs(leases []changefeed.Lease) string {
	var ids []string
	for _, lease := range leases {
		ids = append(ids, lease.ID)
	}
	return strings.Join(ids, " ")
}

// A rebuild waits for feed ranges that another projector has not read yet in the present history:
// what changes before that is neither projected nor sure to be read by the rebuild.
func TestRebuildWaitsForLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLosingWorld(t, 1)
		anna := w.user()
		w.posts(anna, 1)
		w.settle()
		for _, lease := range w.leasesOf(schema.Posts) {
			lease.Owner = "another"
			_, err := w.store.SaveLease(t.Context(), lease)
			w.must(err)
		}
		_, err := w.store.EndHistory(t.Context(), "", "a test")
		w.must(err)
		rebuilds := 0
		_, stop := w.run(w.store, func(o *projector.Options) {
			o.TakeOver, o.Expire = false, 5*time.Minute
			o.Rebuild = func(ctx context.Context, _ string) error {
				rebuilds++
				leases, err := w.store.Leases(ctx)
				for _, lease := range leases {
					if follow.IsFromNow(lease.Continuation) {
						t.Errorf("the rebuild begins before the lease %s", lease.ID)
					}
				}
				return err
			}
		})
		defer stop()
		time.Sleep(10 * time.Minute)
		if rebuilds != 1 {
			t.Errorf("%d rebuilds", rebuilds)
		}
	})
}

// A replica that lags, and knows only an earlier history, does not hide that the present one ended.
func TestEndOfAHistoryOnALaggingReplica(t *testing.T) {
	w := newWorldOn(t, 1, cosmostest.Options{Follower: true})
	w.engine.Follower.Hold()
	first, err := w.store.EndHistory(t.Context(), "", "the first")
	w.must(err)
	second, err := w.store.EndHistory(t.Context(), first.Name, "the second")
	if w.must(err); second.Name <= first.Name {
		t.Errorf("the history %q was followed by %q", first.Name, second.Name)
	}
}

// TestUsersGoBackWithPosts loses a rename and a deletion together with the sources, but keeps the
// containers of projectors, as a restore of some containers does. The sweep and the deletion end
// there, and later renames reach all items, also if their revisions come again.
func TestUsersGoBackWithPosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLosingWorld(t, 1)
		_, stop := w.run(w.store, w.rebuilds, func(o *projector.Options) { o.Poll = time.Second })
		defer stop()
		anna, ben, carla := w.user(), w.user(), w.user()
		post := w.posts(anna, 1)[0]
		for _, user := range []*blog.User{anna, ben, carla} {
			w.comment(user, post)
		}
		time.Sleep(20 * time.Second)
		w.engine.Follower.Lead()
		w.rename(anna)
		w.rename(anna)
		w.rename(ben)
		if _, err := w.store.DeleteUser(t.Context(), carla.ID, carla.Username); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second) // for the first passes
		w.engine.LoseWrites(schema.Posts, schema.Users, schema.Usernames)
		time.Sleep(15 * time.Second)
		for _, user := range []*blog.User{anna, ben, carla} {
			w.rename(user)
		}
		time.Sleep(5 * time.Minute)
		w.wantNoDrift()
		if shown, err := w.store.Post(t.Context(), post.ID); err != nil || shown.CommentCount != 3 {
			t.Errorf("the post is %+v, %v", shown, err)
		}
		for range 3 {
			w.rename(carla)
		}
		time.Sleep(5 * time.Minute)
		w.wantNoDrift()
	})
}

// losingUsers returns a world whose projector has recorded a lost rename of a user, and a lost
// deletion if isDeleted. The containers of the projector are not lost. stop ends the projector.
func losingUsers(t *testing.T, isDeleted bool) (w *world, user *blog.User, stop func()) {
	w = newLosingWorld(t, 1)
	_, stop = w.run(w.store, w.rebuilds, func(o *projector.Options) { o.Poll = time.Second })
	anna, user := w.user(), w.user()
	w.comment(user, w.posts(anna, 1)[0])
	time.Sleep(20 * time.Second)
	w.engine.Follower.Lead()
	renamed := w.rename(user)
	if isDeleted {
		if _, err := w.store.DeleteUser(t.Context(), user.ID, renamed.Username); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(3 * time.Second) // for the first passes
	return w, user, stop
}

// TestDeletedAgain loses a rename and a deletion, after which the user is deleted again, in an
// earlier revision.
func TestDeletedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, user, stop := losingUsers(t, true)
		defer stop()
		w.engine.LoseWrites(schema.Posts, schema.Users, schema.Usernames)
		if _, err := w.store.DeleteUser(t.Context(), user.ID, user.Username); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		w.wantNoDrift()
	})
}

// TestLostDeletionOfRenamedUser loses a deletion while no projector runs. The user, who is there
// again, is renamed, so that the revision passes that of the deletion. Nothing may be deleted.
func TestLostDeletionOfRenamedUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, user, stop := losingUsers(t, true)
		stop()
		w.engine.LoseWrites(schema.Posts, schema.Users, schema.Usernames)
		for range 3 {
			w.rename(user)
		}
		_, stop = w.run(w.store, w.rebuilds, func(o *projector.Options) { o.Poll, o.Owner = time.Second, "another" })
		defer stop()
		time.Sleep(10 * time.Minute)
		w.wantNoDrift()
		posts, err := w.store.Feed(t.Context(), blog.PageRequest{First: 1})
		if err != nil || posts.Items[0].CommentCount != 1 {
			t.Errorf("the post is %+v, %v", posts.Items[0], err)
		}
	})
}

// TestRenamedAgain loses a rename while no projector runs, after which the user is renamed twice:
// the revision has then passed that of the lost sweep.
func TestRenamedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, user, stop := losingUsers(t, false)
		stop()
		w.engine.LoseWrites(schema.Posts, schema.Users, schema.Usernames)
		w.rename(user)
		w.rename(user)
		if _, err := w.store.EndHistory(t.Context(), "", "an operator said so"); err != nil {
			t.Fatal(err)
		}
		_, stop = w.run(w.store, w.rebuilds, func(o *projector.Options) { o.Poll, o.Owner = time.Second, "another" })
		defer stop()
		time.Sleep(10 * time.Minute)
		w.wantNoDrift()
	})
}
