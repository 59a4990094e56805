package changefeed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// readItems reads pages of posts from a continuation to the last one. It calls between after each.
func (w *world) readItems(continuation string, limit int, between func(pages int)) (ids []string) {
	w.T.Helper()
	for pages := 1; ; pages++ {
		page, err := w.ReadItems(w.Ctx(), schema.Posts, continuation, limit)
		w.OK(err)
		if len(page.Items) > limit || changefeed.PositionOf(page) != "" || page.IsBeyondEnd() {
			w.T.Errorf("the page is %+v", page)
		}
		ids = append(ids, idsOfItems(w.T, page.Items)...)
		if continuation = page.Continuation; page.IsLast {
			return ids
		}
		between(pages)
	}
}

// TestReadItems reads all items of a container with four feed ranges, of which some are split
// between two pages.
func TestReadItems(t *testing.T) {
	w := &world{storetest.NewDividedWorld(t)}
	ada := w.AddUser("Ada")
	var want []string
	for range 40 {
		want = append(want, w.AddPost(ada).ID)
	}
	checkIDs(t, "the items", w.readItems("", 7, func(int) {}), want)
	checkIDs(t, "the items of ranges that are split", w.readItems("", 3, func(pages int) {
		if pages == 2 || pages == 5 {
			w.OK(w.Account.Split(cosmos.DefaultDatabase, schema.Posts, fmt.Sprint(pages/2)))
		}
	}), want)
	pages := 0
	checkIDs(t, "the items of one page", w.readItems("", 1000, func(int) { pages++ }), want)
	if pages > 1 {
		t.Errorf("%d pages", pages)
	}

	page, err := w.ReadItems(w.Ctx(), schema.Posts, "", 1)
	w.OK(err)
	var item map[string]any
	w.OK(json.Unmarshal(page.Items[0], &item))
	if item["type"] != schema.TypePost || item["content"] == "" || item["_ts"] == nil || item["_lsn"] != nil {
		t.Errorf("the item is %s", page.Items[0])
	}
}

// TestReadItemsOfAChangingContainer writes between two pages. Every item that stays is on one page.
func TestReadItemsOfAChangingContainer(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	var want []string
	for range 30 {
		want = append(want, w.AddPost(ada).ID)
	}
	got := w.readItems("", 4, func(pages int) {
		if pages > 5 {
			return
		}
		w.Damage(want[pages], map[string]any{"/likeCount": pages}) // was read
		w.Damage(want[len(want)-pages], map[string]any{"/likeCount": pages})
		_, err := w.Container(schema.Posts).DeleteItem(w.Ctx(), azcosmos.NewPartitionKeyString(want[0]), want[0], nil)
		w.OK(err)
		want = want[1:]
	})
	slices.Sort(got)
	if slices.ContainsFunc(want, func(id string) bool { _, found := slices.BinarySearch(got, id); return !found }) {
		t.Errorf("read %v, want %v", got, want)
	}
	if len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("an item is on two pages: %v", got)
	}
}

// TestReadItemsOfAReplacedContainer continues in the middle, and after the last page.
func TestReadItemsOfAReplacedContainer(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	for range 5 {
		w.AddPost(ada)
	}
	middle, err := w.ReadItems(w.Ctx(), schema.Posts, "", 2)
	w.OK(err)
	all, err := w.ReadItems(w.Ctx(), schema.Posts, "", 100)
	w.OK(err)
	if again, err := w.ReadItems(w.Ctx(), schema.Posts, all.Continuation, 100); err != nil || len(again.Items) > 0 || again.Continuation != all.Continuation {
		t.Errorf("after the last page: %+v, %v", again, err)
	}
	_, err = w.Container(schema.Posts).Delete(w.Ctx(), nil)
	w.OK(err)
	other := w.another() // creates the container again
	for range 9 {
		other.AddPost(ada)
	}
	for _, page := range []follow.Page{middle, all} {
		if _, err := w.ReadItems(w.Ctx(), schema.Posts, page.Continuation, 100); !errors.Is(err, follow.ErrContainerReplaced) {
			t.Errorf("from %s: %v", page.Continuation, err)
		}
	}
	if ids := w.readItems("", 100, func(int) {}); len(ids) != 9 {
		t.Errorf("read %v", ids)
	}
}

func TestReadItemsRejectsMalformedContinuations(t *testing.T) {
	w := newWorld(t)
	ranges, err := w.FeedRanges(w.Ctx(), schema.Posts)
	w.OK(err)
	feed, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], "", 1)
	w.OK(err)
	for _, continuation := range []string{"1", "{}", `{"query":"x"}`, `{"resourceId":"r"}`, "x", feed.Continuation} {
		if _, err := w.ReadItems(w.Ctx(), schema.Posts, continuation, 1); err == nil {
			t.Errorf("the continuation %s was accepted", continuation)
		}
	}
	all, err := w.ReadItems(w.Ctx(), schema.Posts, "", 1)
	w.OK(err)
	if _, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], all.Continuation, 1); err == nil {
		t.Error("a change feed was read from the continuation of a query")
	}
}

// TestFollowAllItems reads a container whose feed shows nothing, and goes on from each page.
func TestFollowAllItems(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	var want []string
	for range 10 {
		want = append(want, w.AddPost(ada).ID)
	}
	w.Wire.Inject(storetest.HideItems)
	read := func(from follow.Position, stopAfter int) (ids []string, last follow.Position) {
		done := from.Done
		for step, err := range w.Follower(3).Follow(w.Ctx(), []follow.Position{from}) {
			w.OK(err)
			ids, last = append(ids, idsOfItems(t, step.Items)...), step.Positions[0]
			if done += int64(len(step.Items)); last.Done != done || last.Total != 0 || last.Feed != from.Feed {
				t.Errorf("after %d items, the position is %+v", done, last)
			}
			if stopAfter--; stopAfter == 0 {
				break
			}
		}
		return ids, last
	}
	feed, err := w.Beginnings(w.Ctx(), schema.Posts)
	w.OK(err)
	if ids, _ := read(feed[0], 0); len(ids) > 0 {
		t.Errorf("the feed shows %v", ids)
	}
	beginning := follow.Position{Feed: follow.AllItems(schema.Posts)}
	ids, end := read(beginning, 0)
	checkIDs(t, "the items", ids, want)
	for after := 1; after <= 4; after++ {
		first, position := read(beginning, after)
		rest, _ := read(position, 0)
		checkIDs(t, fmt.Sprintf("the items of a scan that was interrupted after page %d", after), append(first, rest...), want)
	}
	if ids, again := read(end, 0); len(ids) > 0 || again != end || strings.Contains(end.Continuation, `"query"`) {
		t.Errorf("from the end: %v, %+v", ids, again)
	}
}
