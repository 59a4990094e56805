package views_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// feedKeep is the number of copies that truncateFeed leaves: twice as many as the feed shows.
const feedKeep = 2 * blog.FeedLength

// feedModel is the expected content of the feed.
type feedModel struct {
	live    []blog.Position // newest first
	horizon blog.Position
	room    int
}

// insert adds a copy. Each write of a copy above the horizon takes room. If there is none, the feed
// is trimmed.
func (m *feedModel) insert(p blog.Position) {
	if !isNewer(p, m.horizon) {
		return
	}
	if !slices.Contains(m.live, p) {
		m.live = append(m.live, p)
		storetest.SortPositions(m.live, true)
	}
	if m.room--; m.room < 0 {
		m.trim()
		m.room = views.FeedSurplus - 1
	}
}

func (m *feedModel) trim() {
	if len(m.live) > feedKeep {
		m.horizon = m.live[feedKeep]
		m.live = m.live[:feedKeep]
	}
}

func isNewer(a, b blog.Position) bool {
	return a.CreationDate > b.CreationDate || a.CreationDate == b.CreationDate && a.ID > b.ID
}

// delete deletes a post and returns its position.
func (m *feedModel) delete(i int) blog.Position {
	p := m.live[i]
	m.live = slices.Delete(m.live, i, i+1)
	return p
}

// The feed keeps its newest copies and the horizon, whatever is written in whatever order: new
// copies, old ones, some with equal dates, edits of existing copies, tombstones. A refused or
// failed operation loses no copy: the write is undone, or the next write catches up.
func TestTruncateFeed(t *testing.T) {
	seed := testseed.Of(t)
	scriptWorlds(t, func(t *testing.T, w *world, r *storetest.ScriptFaults) {
		w = w.on(t)
		random := rand.New(rand.NewPCG(seed, 0))
		model := &feedModel{}
		withoutRefusals, withRefusals := feedKeep+60, 40
		if *strideFlag == 1 {
			withoutRefusals, withRefusals = feedKeep+120, 60
		}
		for i := range withoutRefusals + withRefusals {
			r.Nth.Store(0)
			if i >= withoutRefusals {
				r.Nth.Store(max(0, random.Int64N(30)-20))
				r.Number.Store(storetest.Failures[random.IntN(len(storetest.Failures))])
				r.Number.CompareAndSwap(404, 0) // the service would not answer so for an existing copy or horizon
			}
			kind := random.IntN(20)
			r.Injected.Store(false)
			write := func(p blog.Position) (written bool) {
				err := w.tryWriteFeed(feedCopy(p, false))
				if err != nil && !r.Injected.Load() {
					t.Fatal(err)
				}
				return err == nil
			}
			if i < feedKeep-5 {
				kind = 19 // fill it first
			}
			switch {
			case kind == 0:
				if p := model.live[random.IntN(len(model.live))]; write(p) { // an edit
					model.insert(p)
				}
			case kind == 1: // the deletion of a post that never was in the feed
				w.writeFeed(feedCopy(w.feedPosition(500, fmt.Sprintf("dead_%d", i)), true))
			case kind <= 3:
				w.writeFeed(feedCopy(model.delete(random.IntN(len(model.live))), true))
			default:
				p := w.feedPosition(random.IntN(100), fmt.Sprintf("p_%03d_%d", random.IntN(1000), i))
				if edge := random.IntN(4); edge == 0 && i > 0 { // near the end of the feed
					p.CreationDate = model.live[len(model.live)-1].CreationDate
				} else if edge == 1 && model.horizon.ID != "" {
					p.CreationDate = model.horizon.CreationDate
				}
				if write(p) {
					model.insert(p)
				}
			}
			if i >= withoutRefusals { // a refused trim is repeated earlier than the model expects
				model.trim()
			}
			if i > feedKeep-10 {
				w.holds(model, i < withoutRefusals)
			}
		}
	})
}

// holds checks that the feed has all copies of the model. If no trigger was ever refused (clean),
// the feed equals the model. After refusals, the feed may also have older copies that the model has
// trimmed: deletions have made room for them, or they are below the horizon.
func (w *world) holds(model *feedModel, clean bool) {
	w.T.Helper()
	live, horizon := w.readFeed()
	for _, p := range model.live {
		if !slices.Contains(live, p) {
			w.T.Fatalf("the copy %v is missing; the horizon is %v", p, horizon)
		}
	}
	if isNewer(horizon, model.horizon) {
		w.T.Fatalf("the horizon is %v, newer than %v", horizon, model.horizon)
	}
	if clean && (!slices.Equal(live, model.live) || horizon != model.horizon) {
		w.T.Fatalf("%d copies are above the horizon %v, want %d above %v", len(live), horizon, len(model.live), model.horizon)
	}
	if len(live) > feedKeep+3*views.FeedSurplus || !slices.Equal(live[:len(model.live)], model.live) {
		w.T.Fatalf("there are %d copies, and the horizon is %v; want at most %d, beginning with the %d of the model",
			len(live), horizon, feedKeep+3*views.FeedSurplus, len(model.live))
	}
}

// feedPosition returns a position on a day.
func (w *world) feedPosition(day int, id string) blog.Position {
	return blog.Position{CreationDate: blog.NewDateTime(w.Clock.Now().AddDate(0, 0, day)), ID: id}
}

func feedCopy(p blog.Position, deleted bool) schema.PostItem {
	return schema.PostItem{ID: p.ID, PostID: p.ID, Type: schema.TypePost, CreationDate: p.CreationDate, SortKey: schema.SortKey(p.CreationDate, p.ID), Deleted: deleted}
}

// tryWriteFeed writes a copy with the trigger.
func (w *world) tryWriteFeed(item schema.PostItem) error {
	text, err := cosmos.EncodeItem(item)
	w.OK(err)
	_, err = w.Container(schema.Feed).UpsertItem(w.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), text, cosmos.WithTrigger(schema.TruncateFeed))
	return err
}

// writeFeed writes a copy that no refusal may undo.
func (w *world) writeFeed(item schema.PostItem) {
	w.T.Helper()
	w.OK(w.tryWriteFeed(item))
}

// above returns those of the positions, newest first, that are above the horizon.
func above(live []blog.Position, horizon blog.Position) []blog.Position {
	if i := slices.IndexFunc(live, func(p blog.Position) bool { return !isNewer(p, horizon) }); i >= 0 {
		return live[:i]
	}
	return live
}

// readFeed returns the live copies, newest first, and the horizon.
func (w *world) readFeed() (live []blog.Position, horizon blog.Position) {
	w.T.Helper()
	const all = `SELECT * FROM c`
	items, err := cosmos.Query[struct {
		ID           string        `json:"id"`
		CreationDate blog.DateTime `json:"creationDate"`
		Deleted      *bool         `json:"deleted"`
		PostID       string        `json:"postId"`
	}](w.Ctx(), w.Container(schema.Feed), schema.FeedPartition, all, 1000)
	w.OK(err)
	for _, item := range items {
		switch {
		case item.Deleted == nil:
			horizon = blog.Position{CreationDate: item.CreationDate, ID: item.PostID}
		case !*item.Deleted:
			live = append(live, blog.Position{CreationDate: item.CreationDate, ID: item.ID})
		}
	}
	storetest.SortPositions(live, true)
	return live, horizon
}

// TestTriggerNeedsContent writes a copy without asking for content. An account hides the written
// item from the trigger then (azure-docs issue 98273), which must not trim nothing in silence.
func TestTriggerNeedsContent(t *testing.T) {
	w := newWorld(t)
	text, err := json.Marshal(feedCopy(w.feedPosition(0, "p_1"), false))
	w.OK(err)
	_, err = w.Container(schema.Feed).UpsertItem(w.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), text,
		&azcosmos.ItemOptions{PostTriggers: []string{schema.TruncateFeed.ID}})
	if status, _ := cosmos.StatusOf(err); status != http.StatusBadRequest {
		t.Errorf("got %v, want 400", err)
	}
	if _, _, err := cosmos.Read[schema.FeedItem](w.Ctx(), w.Container(schema.Feed), schema.FeedPartition, "p_1"); !cosmos.IsNotFound(err) {
		t.Errorf("the copy was written: %v", err)
	}
}
