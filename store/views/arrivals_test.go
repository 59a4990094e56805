package views_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// arrivals follows the copies that come into the feed, as subscribers do.
type arrivals struct {
	*world
	last blog.DateTime
	seen map[string]blog.DateTime
}

// read reads what has arrived since the last call. A post must arrive only once.
func (a *arrivals) read() {
	a.T.Helper()
	rows, err := cosmos.Query[schema.FeedItem](a.Ctx(), a.Container(schema.Feed), schema.FeedPartition,
		"SELECT * FROM c WHERE c.arrivalDate > @date ORDER BY c.arrivalDate", 1000,
		azcosmos.QueryParameter{Name: "@date", Value: string(a.last)})
	a.OK(err)
	for _, row := range rows {
		if before, ok := a.seen[row.ID]; ok || row.ArrivalDate <= a.last {
			a.T.Errorf("%s arrived at %s, before at %s; the last arrival was at %s", row.ID, row.ArrivalDate, before, a.last)
		}
		a.seen[row.ID], a.last = row.ArrivalDate, row.ArrivalDate
	}
}

// holdsArrivals checks that all copies with an arrival date were read, and what the horizon knows.
func (a *arrivals) holdsArrivals(mayMiss bool) {
	a.T.Helper()
	a.read()
	items, err := cosmos.Query[schema.FeedItem](a.Ctx(), a.Container(schema.Feed), schema.FeedPartition, "SELECT * FROM c WHERE c.deleted = false", 1000)
	a.OK(err)
	horizon, _, err := a.ReadHorizon(a.Ctx())
	a.OK(err)
	live := map[string]bool{}
	for _, item := range items {
		live[item.ID] = true
		if item.ArrivalDate != "" && item.ArrivalDate != a.seen[item.ID] { // a refill restores posts without
			a.T.Errorf("%s arrived at %q, and was read at %q", item.ID, item.ArrivalDate, a.seen[item.ID])
		}
		if item.ArrivalDate > horizon.LastArrival {
			a.T.Errorf("%s arrived at %s, after the last arrival %s", item.ID, item.ArrivalDate, horizon.LastArrival)
		}
	}
	if a.last != horizon.LastArrival && !mayMiss {
		a.T.Errorf("read up to %s, the last arrival was at %s", a.last, horizon.LastArrival)
	}
}

// Posts arrive in the feed once, whatever their dates are, and are not read again after refills.
func TestArrivals(t *testing.T) {
	random := rand.New(rand.NewPCG(testseed.Of(t), 0))
	h := &history{world: newWorld(t), posts: map[string]*blog.Post{}, Rand: random}
	a := &arrivals{h.world, "", map[string]blog.DateTime{}}
	for round := 0; round < 12 || len(a.seen) < 100; round++ {
		h.step()
		a.holdsArrivals(true)
		h.holds()
	}
}

// Projectors of which some have a wrong clock write at the same time. A reader misses no post.
func TestConcurrentArrivals(t *testing.T) {
	w := newWorld(t)
	a := &arrivals{w, "", map[string]blog.DateTime{}}
	const projectors, each = 3, 40
	var group sync.WaitGroup
	done := make(chan struct{})
	for n := range projectors {
		skew := time.Duration(n-1) * time.Hour
		other := &world{w.AnotherAt(storetest.NewStillClock(w.Clock.Now().Add(skew)), nil)}
		group.Go(func() {
			var posts []*blog.Post
			for i := range each {
				post := storetest.PostAtRevision(fmt.Sprintf("p_%d_%d", n, i), w.Clock.Date(), 1, false)
				if posts = append(posts, post); i%3 == 0 {
					_, err := other.FeedView().Project(t.Context(), post)
					other.OK(err)
					posts = posts[:len(posts)-1]
				}
			}
			written, err := other.FeedView().ProjectGroup(t.Context(), posts)
			other.OK(err)
			for _, post := range posts {
				if _, ok := written[post.ID]; !ok {
					_, err := other.FeedView().Project(t.Context(), post)
					other.OK(err)
				}
			}
		})
	}
	go func() { group.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		a.read()
	}
	a.holdsArrivals(false)
	if len(a.seen) != projectors*each {
		t.Errorf("%d posts arrived, want %d", len(a.seen), projectors*each)
	}
}

// The horizon knows the latest arrival of the trimmed copies, also of those below it, and keeps its
// arrivals when it is moved.
func TestTrimmedArrivals(t *testing.T) {
	h := &history{world: newWorld(t), posts: map[string]*blog.Post{}}
	a := &arrivals{h.world, "", map[string]blog.DateTime{}}
	project := func(n int) views.Horizon {
		for range n {
			h.project(h.newPost())
			a.read()
		}
		horizon, _, err := h.ReadHorizon(h.Ctx())
		h.OK(err)
		latest, trimmed := blog.DateTime(""), maps.Clone(a.seen)
		live, _ := h.readFeed()
		for _, post := range live {
			delete(trimmed, post.ID)
		}
		for _, date := range trimmed {
			latest = max(latest, date)
		}
		if latest == "" || horizon.TrimmedArrival != latest {
			t.Errorf("the last trimmed copy arrived at %q, the horizon says %q", latest, horizon.TrimmedArrival)
		}
		return horizon
	}
	trimmed := project(views.FeedCapacity + views.FeedSurplus + 5)
	live := h.live()
	for _, to := range []views.FeedPosition{{}, {CreationDate: live[2].CreationDate, ID: live[2].ID}} {
		horizon, etag, err := h.ReadHorizon(h.Ctx())
		h.OK(err)
		h.OK(h.MoveHorizon(h.Ctx(), horizon, to, etag))
		moved, _, err := h.ReadHorizon(h.Ctx())
		h.OK(err)
		if moved.ArrivalsItem != trimmed.ArrivalsItem || moved.Position() != to {
			t.Errorf("after %+v, %+v", trimmed, moved)
		}
	}
	if later := project(1); later.TrimmedArrival <= trimmed.TrimmedArrival {
		t.Errorf("no copy below the horizon was trimmed: %+v", later)
	}
}

// Posts that a refill restores do not arrive again.
func TestRefilledPostsDoNotArrive(t *testing.T) {
	h := drainedByProjection(t, drainedLeft)
	a := &arrivals{h.world, "", map[string]blog.DateTime{}}
	a.read()
	before, _ := h.readFeed()
	h.OK(h.RefillFeed(h.Ctx()))
	after, _ := h.readFeed()
	read := len(a.seen)
	if a.read(); len(after) <= len(before) || len(a.seen) != read {
		t.Errorf("a refill from %d copies to %d has %d arrivals, before %d", len(before), len(after), len(a.seen), read)
	}
}
