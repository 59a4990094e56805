//go:build ci

package projector_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// sweepCharges sums what a projector's sweeps are charged.
type sweepCharges struct {
	mu       sync.Mutex
	passes   float64 // queries and procedures
	recorded float64 // reads and writes of the sweeps' items
}

func (c *sweepCharges) Record(_ context.Context, r cosmos.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.Operation == "changeFeed":
	case r.Container == schema.Posts || r.Container == schema.Usernames:
		c.passes += r.Charge
	case len(r.PartitionKeys) == 1 && strings.Contains(r.PartitionKeys[0], "sweep."):
		c.recorded += r.Charge
	}
}

// frequentWriter creates a user with a comment and a like on each of n posts, all projected.
func (w *world) frequentWriter(n int) (*blog.User, []*blog.Post) {
	writer := w.user()
	posts := w.posts(w.user(), n)
	for _, post := range posts {
		w.comment(writer, post)
		w.like(writer, post)
	}
	w.settle()
	return writer, posts
}

// sweepUntilDone settles a projector until no sweep is pending.
func (w *world) sweepUntilDone(ctx context.Context, p *projector.Projector) {
	w.Helper()
	for range 1000 {
		w.must(p.SettleForTests(ctx))
		sweeps, err := w.store.Sweeps(w.Context())
		w.must(err)
		if len(sweeps) == 0 {
			return
		}
		w.clock.Advance(time.Second)
	}
	w.Fatal("the sweeps do not end")
}

// showsEverywhere checks that a user's comments and likes have the username.
func (w *world) showsEverywhere(user *blog.User, posts []*blog.Post) {
	w.Helper()
	for _, post := range posts {
		likes, err := w.store.Likes(w.Context(), post.ID, blog.PageRequest{First: 1})
		w.must(err)
		if name := likes.Items[0].User.Username; name != user.Username || w.firstCommenter(post) != user.Username {
			w.Fatalf("%s has the names %s and %s instead of %s", post.ID, name, w.firstCommenter(post), user.Username)
		}
	}
}

// renamesCost renames a user with 150 comments and likes n times, and returns what the sweeps are
// charged.
func renamesCost(t *testing.T, n int, apart time.Duration) *sweepCharges {
	w := newWorld(t)
	writer, posts := w.frequentWriter(75)
	p, charges := w.projector(w.store), &sweepCharges{}
	ctx := cosmos.WithRecorder(t.Context(), charges)
	for range n {
		writer = w.rename(writer)
		w.must(p.SettleForTests(ctx))
		for end := w.clock.Now().Add(apart); w.clock.Now().Before(end); {
			w.clock.Advance(time.Second)
			w.must(p.SettleForTests(ctx))
		}
	}
	w.sweepUntilDone(ctx, p)
	w.showsEverywhere(writer, posts)
	return charges
}

// The passes of fifteen renames in a row cost at most what those of two renames do. Each rename
// only replaces the item of the pending sweep.
func TestRenamesInARowShareSweep(t *testing.T) {
	one, two := renamesCost(t, 1, 0), renamesCost(t, 2, time.Minute)
	for _, apart := range []time.Duration{0, time.Second} {
		row := renamesCost(t, 15, apart)
		t.Logf("RU of one rename %.0f + %.0f, of two %.0f + %.0f, of fifteen every %v %.0f + %.0f",
			one.passes, one.recorded, two.passes, two.recorded, apart, row.passes, row.recorded)
		if row.passes > two.passes || row.recorded > 15*one.recorded {
			t.Error("fifteen renames cost too much")
		}
	}
}

// sweepOf reads the item of a user's sweep, pending or done.
func (w *world) sweepOf(user *blog.User) *chores.Sweep {
	w.Helper()
	id := schema.SweepID(user.ID)
	sweep, _, err := cosmos.Read[chores.Sweep](w.Context(), w.store.DB.Container(schema.Leases), id, id)
	w.must(err)
	return sweep
}

// A user's next sweep begins after a rest, which others do not wait for. The item has the charge of
// the last sweep.
func TestUserRestsAfterSweep(t *testing.T) {
	w := newWorld(t)
	writer, posts := w.frequentWriter(1)
	other, others := w.frequentWriter(1)
	p, charges := w.projector(w.store), &sweepCharges{}
	ctx := cosmos.WithRecorder(t.Context(), charges)
	first := w.rename(writer)
	w.sweepUntilDone(ctx, p)
	charge := w.sweepOf(writer).Charge
	if unknown := charges.passes - charge; charge == 0 || unknown < -0.01 || unknown > 0.01 {
		t.Errorf("the sweep's charge is %v instead of %v", charge, charges.passes)
	}

	w.rename(writer)
	w.must(p.SettleForTests(t.Context()))
	second := w.rename(writer)
	other = w.rename(other)
	w.must(p.SettleForTests(t.Context()))
	w.showsEverywhere(first, posts)
	w.showsEverywhere(other, others)
	if got := w.sweepOf(writer); got.Charge != charge || got.Username != second.Username {
		t.Errorf("the pending sweep is %+v", got)
	}
	w.clock.Advance(2 * time.Second)
	w.must(p.SettleForTests(t.Context()))
	w.showsEverywhere(second, posts)
}

// A rename during a pass ends that pass at the next listing. The next one begins after a rest.
func TestRenameDuringPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		writer, posts := w.frequentWriter(75)
		wire, s := w.wired()
		executions, last, restEnd := 0, writer, time.Time{}
		wire.refuse = func(r *http.Request) int {
			if strings.HasSuffix(r.URL.Path, schema.UpdateUsernames.ID) {
				switch executions++; executions {
				case 10:
					last = w.rename(writer)
					w.must(w.store.RecordSweep(w.Context(), chores.Sweep{UserID: last.ID, Username: last.Username, AuthorRevision: last.Revision}))
					<-r.Context().Done()
					restEnd = time.Now().Add(2 * time.Second)
				case 11:
					if time.Now().Before(restEnd) {
						t.Error("the next pass began without a rest")
					}
				}
			}
			return 0
		}
		_, stop := w.run(s, func(o *projector.Options) { o.Parallel = 1 })
		defer stop()
		w.rename(writer)
		advanceTime(2 * time.Minute)
		w.showsEverywhere(last, posts)
		if restEnd.IsZero() || executions > 10+len(posts) {
			t.Errorf("%d executions for %d posts", executions-10, len(posts))
		}
	})
}

// Renames while projectors die: the last name shows everywhere, and the charge of the last complete
// sweep stays known. After a restart, nobody rests.
func TestRenamesWhileProjectorsDie(t *testing.T) {
	w := newWorld(t)
	writer, posts := w.frequentWriter(10)
	w.rename(writer)
	w.settle()
	charge := w.sweepOf(writer).Charge
	for requests := range int64(12) {
		writer = w.rename(writer)
		wire, s := w.wired()
		wire.left.Store(5 * requests)
		_ = w.projector(s).SettleForTests(t.Context())
		if w.sweepOf(writer).Charge == 0 {
			t.Fatalf("the charge %v is forgotten after %d requests", charge, 5*requests)
		}
	}
	p := w.projector(w.store)
	w.must(p.SettleForTests(t.Context()))
	w.showsEverywhere(writer, posts)
	w.sweepUntilDone(t.Context(), p)
	w.showsEverywhere(writer, posts)
}

// Another user's rename and another one's deletion do not wait for a huge sweep.
func TestHugeSweepLeavesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		author, other, leaver := w.user(), w.user(), w.user()
		huge := w.commentEverywhere(*sweptFlag)
		post := w.post(author)
		w.comment(other, post)
		w.comment(leaver, post)
		w.settle()
		p, stop := w.run(w.open(&slowTransport{next: inprocess.To(w.engine)}), withoutTakeOver, func(o *projector.Options) { o.Wake = w.wake })
		defer stop()
		advanceTime(balance)
		w.rename(huge)
		advanceTime(time.Second)
		renamed := w.rename(other)
		w.deleteUser(leaver)
		w.until(func() bool { return p.Counts().DeletionPasses > 0 && p.Counts().SweepPasses > 0 })
		if sweep := w.sweepOf(huge); sweep.Last || p.Counts().SweepPasses != 1 {
			t.Error("others waited for the sweep")
		}
		if name := w.firstCommenter(post); name != renamed.Username {
			t.Errorf("the first comment is by %s instead of %s", name, renamed.Username)
		}
	})
}

// A rename reaches all items even if the feed did not show it, because another rename began and
// never ended.
func TestRenameBehindUnfinishedRename(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.comment(anna, w.post(anna))
	w.settle()
	renamed := w.rename(anna)
	for n := int64(1); ; n++ { // interrupted later each time, until the new name is pending
		wire, s := w.wired()
		wire.left.Store(n)
		if _, err := s.UpdateUser(t.Context(), anna.ID, "neverborne"); err == nil {
			t.Fatal("the rename was not interrupted")
		}
		if change, err := w.store.Change(t.Context(), schema.Users, anna.ID, anna.ID); err != nil {
			t.Fatal(err)
		} else if change.Renaming {
			break
		}
	}
	w.settle()
	w.wantViewsEqualSource()
	if user, err := w.store.User(t.Context(), anna.ID); err != nil || user.Username != renamed.Username {
		t.Errorf("%+v, %v", user, err)
	}
}

// A user who is deleted during a rename leaves neither username reserved.
func TestDeletionDuringRename(t *testing.T) {
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
			t.Fatal("the rename returned no error, but had no effect")
		}
		w.deleteUser(user)
		w.settle()
		w.wantViewsEqualSource()
		w.wantUserGone(user)
		if other, err := w.store.CreateUser(t.Context(), blog.Account{Subject: "someone else"}, "Renamed"); err != nil {
			t.Fatalf("after %d requests: %+v, %v", n, other, err)
		}
	}
}
