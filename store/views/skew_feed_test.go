//go:build ci

package views_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// feedScene is a feed with copies of posts, one of each day.
type feedScene struct {
	*world
	interleaver *storetest.Interleaver
	etags       map[string]azcore.ETag // of all items at the beginning
	newest      int                    // day of the newest copy
}

// feedState is the state in which a feedScene begins: above copies, from day 1 on, and below
// copies, up to day 0. The horizon is at day 0.
type feedState struct {
	above, below        int
	horizon, refilling  bool
	unlimitedRefillMark bool // the mark has no position: all posts return
	room                int  // of the horizon
}

var feedStates = map[string]feedState{
	"empty":                {},
	"no horizon, few":      {above: 20},
	"no horizon, full-1":   {above: feedKeep - 1},
	"no horizon, full":     {above: feedKeep},
	"drained":              {above: 150, horizon: true},
	"full-1":               {above: feedKeep - 1, horizon: true},
	"full":                 {above: feedKeep, horizon: true},
	"full, with room":      {above: feedKeep, horizon: true, room: 1},
	"full, copies below":   {above: feedKeep - 1, below: 3, horizon: true},
	"surplus":              {above: feedKeep + 3, horizon: true},
	"surplus, with room":   {above: feedKeep + 3, horizon: true, room: 7},
	"much surplus":         {above: feedKeep + views.FeedSurplus + 2, horizon: true},
	"refilling":            {above: 120, below: 30, horizon: true, refilling: true},
	"refilling all":        {above: 120, below: 3, horizon: true, refilling: true, unlimitedRefillMark: true},
	"refilling, but full":  {above: feedKeep, below: 10, horizon: true, refilling: true},
	"refilling, with room": {above: feedKeep, below: 10, horizon: true, refilling: true, room: 3},
}

// refillDay is the day down to which a feed that is marked as refilling is refilled.
const refillDay = -50

func (s feedScene) at(day int) views.FeedPosition {
	p := s.feedPosition(day, copyID(day))
	return views.FeedPosition{CreationDate: p.CreationDate, ID: p.ID}
}

func copyID(day int) string { return fmt.Sprintf("p_%+04d", day) }

func (s feedScene) copyOf(day int, deleted bool) schema.PostItem {
	return feedCopy(s.feedPosition(day, copyID(day)), deleted)
}

// horizonAt returns the horizon at a day, marked down to another day or not.
func (s feedScene) horizonAt(day, refillTo int, refilling bool) views.Horizon {
	horizon := views.HorizonAt(s.at(day))
	if refilling {
		horizon.Refilling, horizon.RefillDate, horizon.RefillPostID = true, s.at(refillTo).CreationDate, s.at(refillTo).ID
	}
	return horizon
}

func newFeedScene(t *testing.T, state feedState) feedScene {
	t.Helper()
	s := feedScene{interleaver: &storetest.Interleaver{}, newest: state.above}
	s.world = &world{storetest.NewSnapshotWorld(t, s.interleaver, false)}
	var items []any
	for i := range state.above {
		items = append(items, s.copyOf(i+1, false))
	}
	for i := range state.below {
		items = append(items, s.copyOf(-i, false))
	}
	if state.horizon {
		horizon := s.horizonAt(0, refillDay, state.refilling)
		if state.unlimitedRefillMark {
			horizon.RefillDate, horizon.RefillPostID = "", ""
		}
		horizon.Room = state.room
		items = append(items, horizon)
	}
	s.plantFeed(items)
	s.etags = map[string]azcore.ETag{}
	for _, item := range s.feedItems() {
		s.etags[item["id"].(string)] = azcore.ETag(item["_etag"].(string))
	}
	return s
}

func (s feedScene) feedItems() []map[string]any {
	s.T.Helper()
	items, err := cosmos.Query[map[string]any](s.Ctx(), s.Container(schema.Feed), schema.FeedPartition, "SELECT * FROM c", 1000)
	s.OK(err)
	return items
}

// state returns the feed and the outcomes of writes.
func (s feedScene) state(outcomes ...error) string {
	s.T.Helper()
	var lines []string
	for _, item := range s.feedItems() {
		maps.DeleteFunc(item, func(name string, _ any) bool { return strings.HasPrefix(name, "_") || name == "refillId" })
		lines = append(lines, fmt.Sprint(item["id"], " ", item["deleted"]))
		if item["id"] == views.HorizonID {
			lines[len(lines)-1] = fmt.Sprint(item)
		}
	}
	slices.Sort(lines)
	for i, err := range outcomes {
		if err != nil {
			lines = append(lines, fmt.Sprint(i, " ", blog.CodeOf(err)))
		}
	}
	return strings.Join(lines, "\n")
}

func (s feedScene) write(
	do func(context.Context, azcosmos.PartitionKey, []byte) (azcosmos.ItemResponse, error), item any,
) error {
	text, err := cosmos.EncodeItem(item)
	s.OK(err)
	_, err = do(s.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), text)
	return cosmos.ToBlogError(err)
}

// create creates an item, with the trigger unless it is a tombstone.
func (s feedScene) create(item any, options *azcosmos.ItemOptions) error {
	return s.write(func(ctx context.Context, key azcosmos.PartitionKey, text []byte) (azcosmos.ItemResponse, error) {
		return s.Container(schema.Feed).CreateItem(ctx, key, text, options)
	}, item)
}

// replace replaces an item if it is as it was at the beginning of the scene.
func (s feedScene) replace(id string, item any, options azcosmos.ItemOptions) error {
	etag, ok := s.etags[id]
	if !ok {
		etag = `"none"`
	}
	options.IfMatchEtag = &etag
	return s.write(func(ctx context.Context, key azcosmos.PartitionKey, text []byte) (azcosmos.ItemResponse, error) {
		return s.Container(schema.Feed).ReplaceItem(ctx, key, id, text, &options)
	}, item)
}

func (s feedScene) createCopy(day int) error {
	return s.create(s.copyOf(day, false), cosmos.WithTrigger(schema.TruncateFeed))
}

func (s feedScene) moveHorizon(horizon views.Horizon) error {
	return s.replace(views.HorizonID, horizon, azcosmos.ItemOptions{})
}

// triggered are the writes with truncateFeed.
var triggered = map[string]func(feedScene) error{
	"new post":               func(s feedScene) error { return s.createCopy(1000) },
	"backdated post":         func(s feedScene) error { return s.create(s.backdated(), cosmos.WithTrigger(schema.TruncateFeed)) },
	"post below the horizon": func(s feedScene) error { return s.createCopy(-40) },
	"post below the mark":    func(s feedScene) error { return s.createCopy(-60) },
}

// others are all writes of the feed.
func others() map[string]func(feedScene) error {
	others := maps.Clone(triggered)
	maps.Copy(others, untriggered)
	return others
}

// backdated is a post above the horizon and below all other copies.
func (s feedScene) backdated() schema.PostItem {
	item := s.copyOf(0, false)
	item.ID, item.PostID = item.ID+"a", item.PostID+"a"
	return item
}

// untriggered are the other writes of the feed.
var untriggered = map[string]func(feedScene) error{
	"two new posts":    func(s feedScene) error { return firstError(s.createCopy(2000), s.createCopy(2001)) },
	"another new post": func(s feedScene) error { return s.createCopy(3000) },
	"another backdated post": func(s feedScene) error {
		item := s.backdated()
		item.ID, item.PostID = item.ID+"b", item.PostID+"b"
		return s.create(item, cosmos.WithTrigger(schema.TruncateFeed))
	},
	"edit of the newest":         func(s feedScene) error { return s.replaceCopy(s.newest, false) },
	"edit of the oldest":         func(s feedScene) error { return s.replaceCopy(1, false) },
	"deletion of the newest":     func(s feedScene) error { return s.replaceCopy(s.newest, true) },
	"deletion of the oldest":     func(s feedScene) error { return s.replaceCopy(1, true) },
	"deletion of a copy below":   func(s feedScene) error { return s.replaceCopy(-1, true) },
	"deletion of the new post":   func(s feedScene) error { return s.create(s.copyOf(1000, true), nil) },
	"mark":                       func(s feedScene) error { return s.moveHorizon(s.horizonAt(0, refillDay, true)) },
	"deeper mark":                func(s feedScene) error { return s.moveHorizon(s.horizonAt(0, 2*refillDay, true)) },
	"the horizon is raised":      func(s feedScene) error { return s.moveHorizon(s.horizonAt(10, 0, false)) },
	"the horizon loses its mark": func(s feedScene) error { return s.moveHorizon(s.horizonAt(0, 0, false)) },
	"the horizon is lowered":     func(s feedScene) error { return s.moveHorizon(s.horizonAt(refillDay, 0, false)) },
	"deletion of the horizon": func(s feedScene) error {
		return cosmos.Delete(s.Ctx(), s.Container(schema.Feed), schema.FeedPartition, views.HorizonID, s.etags[views.HorizonID])
	},
}

func (s feedScene) replaceCopy(day int, deleted bool) error {
	return s.replace(copyID(day), s.copyOf(day, deleted), azcosmos.ItemOptions{})
}

// A new copy does not come in below a horizon that moves while the copy is written, or that another
// new copy creates.
func TestHorizonMovesDuringNewCopy(t *testing.T) {
	for _, c := range []struct{ state, write, other string }{
		{"drained", "backdated post", "the horizon is raised"},
		{"no horizon, full-1", "post below the horizon", "two new posts"},
		{"full-1", "new post", "another new post"},
		{"refilling all", "post below the mark", "the horizon is lowered"},
		{"refilling, but full", "post below the horizon", "the horizon loses its mark"},
	} {
		t.Run(c.other+" during "+c.write, func(t *testing.T) {
			other := others()[c.other]
			isFeedSerializable(t, feedStates[c.state], triggered[c.write], other)
		})
	}
}

// Whatever is written to the feed while truncateFeed runs: the result is that of one order of the
// two writes. Each write depends only on the feed as it was in the beginning.
func TestTruncateFeedIsSerializable(t *testing.T) {
	others := others()
	var cases []string
	for state := range feedStates {
		for name := range triggered {
			for other := range others {
				if name != other {
					cases = append(cases, state+"/"+name+"/"+other)
				}
			}
		}
	}
	slices.Sort(cases)
	stride := 1 // each world takes 60 ms
	if *strideFlag > 1 {
		stride = 150
	}
	for n := testseed.Rand(t).IntN(stride); n < len(cases); n += stride {
		parts := strings.Split(cases[n], "/")
		t.Run(cases[n], func(t *testing.T) {
			isFeedSerializable(t, feedStates[parts[0]], triggered[parts[1]], others[parts[2]])
		})
	}
}

func isFeedSerializable(t *testing.T, state feedState, write, other func(feedScene) error) {
	s := newFeedScene(t, state)
	first := write(s)
	before := s.state(first, other(s))
	s = newFeedScene(t, state)
	first = other(s)
	after := s.state(write(s), first)
	s = newFeedScene(t, state)
	var second error
	s.interleaver.Set(1, func() { second = other(s) })
	got := s.state(write(s), second)
	if !s.interleaver.Clear() {
		return // the trigger did not run
	}
	if got != before && got != after {
		t.Errorf("interleaved:\n%s\nThe first before the other:\n%s\nThe other before the first:\n%s",
			got, difference(got, before), difference(got, after))
	}
}

// difference returns the lines that only one of two texts has.
func difference(got, want string) string {
	var lines []string
	for _, line := range strings.Split(got, "\n") {
		if !strings.Contains(want, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range strings.Split(want, "\n") {
		if !strings.Contains(got, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return strings.Join(lines, "\n")
}
