package views_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// overfullFeed returns a feed that has n copies too many, above the horizon or below it.
func overfullFeed(w *world, n int, below bool) *history {
	w.T.Helper()
	h := &history{world: w, posts: map[string]*blog.Post{}}
	var items []any
	for range views.FeedCapacity + n {
		post := h.newPost()
		items = append(items, views.FeedCopyOf(post))
	}
	last := h.posts["p_0"]
	if below {
		last = h.posts[h.live()[views.FeedCapacity].ID]
	} else {
		items = items[1:] // the one at the horizon
	}
	h.plantFeed(append(items, views.HorizonAt(views.FeedPosition{CreationDate: last.CreationDate, ID: last.ID})))
	return h
}

func (h *history) newPost() *blog.Post {
	h.Clock.Advance(time.Hour)
	post := storetest.PostAtRevision(fmt.Sprintf("p_%d", len(h.posts)), h.Clock.Date(), 1, false)
	h.posts[post.ID] = post
	return post
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

// New posts enter a feed with too many copies, which scripts left that ran out of time, however few
// operations are accepted from now on. The operations that trim one copy are enough: the feed does
// not grow. Later writes delete all surplus copies.
func TestNewPostsInOverfullFeed(t *testing.T) {
	for _, n := range places(t, 10) {
		for _, own := range ownWrites(t) {
			for _, below := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d operations, own=%t, below=%t", n+4, own, below), func(t *testing.T) {
					r := &storetest.ScriptFaults{}
					h := overfullFeed(newScriptWorld(t, r, own), 60, below)
					before, _ := h.readFeed()
					r.Most.Store(int64(n + 4))
					for range 5 {
						h.project(h.newPost())
						h.holds()
					}
					if after, _ := h.readFeed(); len(after) > len(before) {
						t.Errorf("the feed grows from %d copies to %d", len(before), len(after))
					}
					r.Most.Store(0)
					for range views.FeedSurplus {
						h.project(h.newPost())
						h.holds()
					}
					if left, _ := h.readFeed(); len(left) > views.FeedCapacity+views.FeedSurplus {
						t.Errorf("%d copies are left", len(left))
					}
				})
			}
		}
	}
}
