package views_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// clutteredFeed returns a full feed with n more copies below its horizon, in the state that an
// interrupted refill leaves.
func clutteredFeed(w *world, n int) *history {
	w.T.Helper()
	h := &history{world: w, posts: map[string]*blog.Post{}}
	var items []any
	for i := range views.FeedCapacity + n {
		h.Clock.Advance(time.Second)
		post := storetest.PostAtRevision(fmt.Sprintf("p_%d", i), h.Clock.Date(), 1, false)
		h.posts[post.ID] = post
		items = append(items, views.FeedCopyOf(post))
	}
	newest := h.live()[views.FeedCapacity]
	horizon := views.HorizonAt(views.FeedPosition{CreationDate: newest.CreationDate, ID: newest.ID})
	horizon.Refilling = true
	h.plantFeed(append(items, horizon))
	return h
}

// plantFeed creates items of feed directly, without the trigger.
func (w *world) plantFeed(items []any) {
	w.T.Helper()
	for part := range slices.Chunk(items, cosmos.MaxBatchOperations) {
		key := azcosmos.NewPartitionKeyString(schema.FeedPartition)
		batch := w.Container(schema.Feed).NewTransactionalBatch(key)
		for _, item := range part {
			text, err := cosmos.EncodeItem(item)
			w.OK(err)
			batch.CreateItem(text, nil)
		}
		w.OK(cosmos.ExecuteBatch(w.Ctx(), w.Container(schema.Feed), batch))
	}
}

// A refill deletes all copies below the horizon, and no others, however few operations of each
// script are accepted.
func TestClearingInParts(t *testing.T) {
	type feed struct{ below, accepted int }
	for _, c := range someOf(t, 3, feed{1000, 30}, feed{130, 3}, feed{60, 2}, feed{19, 19}, feed{20, 0}, feed{250, 0}) {
		for _, own := range ownWrites(t) {
			t.Run(fmt.Sprintf("%d copies by %d operations, own=%t", c.below, c.accepted, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := clutteredFeed(newScriptWorld(t, r, own), c.below)
				r.Most.Store(int64(c.accepted))
				h.retry(func() error { return h.RefillFeed(h.Ctx()) })
				h.holdsUnmarked()
			})
		}
	}
}

// The same in a container with the least throughput that can be provisioned.
func TestClearingWithLeastThroughput(t *testing.T) {
	for _, accepted := range someOf[int64](t, 1, 0, 30) {
		r := &storetest.ScriptFaults{}
		h := clutteredFeed(newScriptWorld(t, r, false), 1000)
		r.Most.Store(accepted)
		b := storetest.NewThrottled(h.Clock.Now(), 400)
		h.Wire.Inject(b.Fault)
		_, _, err := h.ReadHorizon(h.Ctx())
		h.OK(err)
		b.Advance(time.Second - time.Millisecond) // azcosmos waits only for the rest of the second
		h.retry(func() error { return h.RefillFeed(h.Ctx()) })
		h.Wire.Inject(nil)
		h.holdsUnmarked()
		if b.Refused() == 0 {
			t.Error("no request was throttled")
		}
	}
}

// The same if one operation of each script is refused, whichever it is.
func TestClearingWithRefusedOperation(t *testing.T) {
	for _, n := range places(t, 33) {
		for _, own := range ownWrites(t) {
			t.Run(fmt.Sprintf("operation %d, own=%t", n+3, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := clutteredFeed(newScriptWorld(t, r, own), 30)
				r.Nth.Store(int64(n + 3)) // without the first two, nothing can be deleted
				h.retry(func() error { return h.RefillFeed(h.Ctx()) })
				h.holdsUnmarked()
			})
		}
	}
}

// If a refill crashes while it deletes the copies below the horizon in parts, the horizon stays
// marked, no late write adds copies below it, and the next refill finishes.
func TestCrashDuringClearing(t *testing.T) {
	random := testseed.Rand(t)
	for n := 1; ; n += 1 + random.IntN(min(3, *strideFlag)) {
		r := &storetest.ScriptFaults{}
		h := clutteredFeed(newScriptWorld(t, r, n%2 == 0), 20)
		r.Most.Store(6)
		h.Wire.Inject(cosmostest.From(n, storetest.CutBefore))
		crashed := h.RefillFeed(h.Ctx()) != nil
		h.Wire.Inject(nil)
		live, position := h.readFeed()
		horizon, _, err := h.ReadHorizon(h.Ctx())
		h.OK(err)
		if i := len(live) - 1; !horizon.Refilling && !isNewer(live[i], position) {
			t.Fatalf("crash at request %d: %v is below the unmarked horizon %v", n, live[i], position)
		}
		late := h.posts["p_0"]
		feed := h.Container(schema.Feed)
		_, err = feed.DeleteItem(h.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), late.ID, nil)
		if err == nil && horizon.RefillDate != "" {
			err = h.WriteFeedCopy(h.Ctx(), late, views.CopyState{})
			h.OK(err)
			_, _, err := cosmos.Read[schema.PostItem](h.Ctx(), feed, schema.FeedPartition, late.ID)
			if !cosmos.IsNotFound(err) {
				t.Fatalf("crash at request %d: a late copy is below the horizon (%v)", n, err)
			}
		}
		h.retry(func() error { return h.RefillFeed(h.Ctx()) })
		h.holdsUnmarked()
		if !crashed {
			return
		}
	}
}

// New posts enter the feed, however many copies are below a marked horizon, and however few
// operations are accepted.
func TestNewPostsDuringClearing(t *testing.T) {
	for _, accepted := range someOf(t, 2, 5, 9, 30, 0) {
		for _, own := range ownWrites(t) {
			t.Run(fmt.Sprintf("%d operations, own=%t", accepted, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := clutteredFeed(newScriptWorld(t, r, own), 1100)
				r.Most.Store(int64(accepted))
				for i := range 10 {
					h.projectNew(i)
				}
				if live, _ := h.readFeed(); len(live) > views.FeedCapacity+1100 {
					t.Errorf("the feed grows: %d copies", len(live))
				}
				r.Most.Store(0)
				h.retry(func() error { return h.RefillFeed(h.Ctx()) })
				h.holdsUnmarked()
			})
		}
	}
}

// New posts enter a feed with too many copies above an unmarked horizon, which refused triggers
// left, whichever operation is refused from now on. The operations that trim one copy are enough.
func TestNewPostsInOverfullFeed(t *testing.T) {
	for _, n := range places(t, 10) {
		for _, own := range ownWrites(t) {
			t.Run(fmt.Sprintf("operation %d, own=%t", n, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := clutteredFeed(newScriptWorld(t, r, own), 40)
				first := views.FeedPosition{CreationDate: h.posts["p_0"].CreationDate, ID: "p_0"}
				feed := h.Container(schema.Feed)
				_, err := cosmos.Replace(h.Ctx(), feed, schema.FeedPartition, views.HorizonID, views.HorizonAt(first), "")
				h.OK(err)
				_, err = feed.DeleteItem(h.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), first.ID, nil)
				h.OK(err)
				if n > 0 {
					r.Most.Store(int64(n + 3))
				}
				for i := range 5 {
					h.projectNew(i)
					h.holdsUnmarked()
				}
			})
		}
	}
}

// projectNew projects the i-th new post.
func (h *history) projectNew(i int) {
	h.T.Helper()
	h.Clock.Advance(time.Second)
	post := storetest.PostAtRevision(fmt.Sprintf("p_new_%d", i), h.Clock.Date(), 1, false)
	h.posts[post.ID] = post
	h.retry(func() error { _, err := h.FeedView().Project(h.Ctx(), post); return err })
}

// retry repeats a step that is throttled, at most five times.
func (h *history) retry(step func() error) {
	h.T.Helper()
	for range 5 {
		err := step()
		if err == nil {
			return
		}
		h.Fails(err, blog.Throttled)
	}
	h.T.Fatal("the step is throttled every time")
}

// holdsUnmarked is holds for a horizon that must not be marked.
func (h *history) holdsUnmarked() {
	h.T.Helper()
	h.holds()
	horizon, _, err := h.ReadHorizon(h.Ctx())
	h.OK(err)
	if horizon.Refilling {
		h.T.Errorf("the horizon is marked: %+v", horizon)
	}
}
