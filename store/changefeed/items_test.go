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
	"cosmosblog/store/schema"
)

// readItems reads pages of posts from a continuation to the last one. It calls between after each.
func (w *world) readItems(continuation string, limit int, between func(pages int)) (ids []string) {
	w.T.Helper()
	for pages := 1; ; pages++ {
		page, err := w.ReadItems(w.Ctx(), schema.Posts, continuation, limit)
		w.OK(err)
		if len(page.Items) > limit || page.Position() != "" || page.IsBeyondEnd() {
			w.T.Errorf("the page is %+v", page)
		}
		ids = append(ids, idsOfItems(w.T, page.Items)...)
		if continuation = page.Continuation; changefeed.AllItemsRead(continuation) {
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
	for _, page := range []changefeed.Page{middle, all} {
		if _, err := w.ReadItems(w.Ctx(), schema.Posts, page.Continuation, 100); !errors.Is(err, changefeed.ErrContainerReplaced) {
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
		if _, err := w.ReadItems(w.Ctx(), schema.Posts, continuation, 1); err == nil || changefeed.AllItemsRead(continuation) {
			t.Errorf("the continuation %s was accepted", continuation)
		}
	}
	all, err := w.ReadItems(w.Ctx(), schema.Posts, "", 1)
	w.OK(err)
	if _, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], all.Continuation, 1); err == nil {
		t.Error("a change feed was read from the continuation of a query")
	}
	if changefeed.AllItemsRead("") || changefeed.AllItemsRead(feed.Continuation) {
		t.Error("the beginning counts as the end")
	}
}

// TestScanByQuery scans a container whose feed shows nothing, and continues from each page.
func TestScanByQuery(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	var want []string
	for range 10 {
		want = append(want, w.AddPost(ada).ID)
	}
	w.Wire.Inject(storetest.HideItems)
	scan := func(byQuery bool, begin string, stopAfter int) (ids []string, last string) {
		stop := errors.New("stop")
		scanner := changefeed.Scanner{
			Feeds: w.Feeds, PageSize: 3,
			Begin: func(changefeed.Feed) string { return begin },
			Visit: func(page changefeed.Page, feed changefeed.Feed, progress changefeed.Progress) error {
				if feed != changefeed.AllOf(schema.Posts) || progress != (changefeed.Progress{}) {
					t.Errorf("the progress of %+v is %+v", feed, progress)
				}
				ids, last = append(ids, idsOfItems(t, page.Items)...), page.Continuation
				if stopAfter--; stopAfter == 0 {
					return stop
				}
				return nil
			},
		}
		var err error
		if byQuery {
			err = scanner.ScanItems(w.Ctx(), schema.Posts)
		} else {
			err = scanner.Scan(w.Ctx(), []changefeed.Feed{changefeed.AllOf(schema.Posts)})
		}
		if err != nil && !errors.Is(err, stop) {
			t.Fatal(err)
		}
		return ids, last
	}
	if ids, _ := scan(false, "", 0); len(ids) > 0 {
		t.Errorf("the feed shows %v", ids)
	}
	ids, end := scan(true, "", 0)
	checkIDs(t, "the items", ids, want)
	for after := 1; after <= 4; after++ {
		first, continuation := scan(true, "", after)
		rest, _ := scan(true, continuation, 0)
		checkIDs(t, fmt.Sprintf("the items of a scan that was interrupted after page %d", after), append(first, rest...), want)
	}
	if ids, again := scan(true, end, 0); len(ids) > 0 || again != end || strings.Contains(end, `"query"`) {
		t.Errorf("from the end: %v, %s", ids, again)
	}
}
