package changefeed_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// dividedContainer is a container of an engine in memory whose partition key ranges can be
// split.
type dividedContainer struct {
	*azcosmos.ContainerClient
	t      *testing.T
	engine *cosmostest.Account
}

func newDividedContainer(t *testing.T, throughput int32) dividedContainer {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{EtagsOfShownChanges: etagsOfShownChanges})
	db, err := cosmos.New(cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: engine.Key(), Transport: inprocess.To(engine)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	client := db.Client()
	if _, err := client.CreateDatabase(t.Context(), azcosmos.DatabaseProperties{ID: "d"}, nil); err != nil {
		t.Fatal(err)
	}
	database, err := client.NewDatabase("d")
	if err != nil {
		t.Fatal(err)
	}
	given := azcosmos.NewManualThroughputProperties(throughput)
	if _, err := database.CreateContainer(t.Context(), azcosmos.ContainerProperties{
		ID:                     "c",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2},
	}, &azcosmos.CreateContainerOptions{ThroughputProperties: &given}); err != nil {
		t.Fatal(err)
	}
	container, err := database.NewContainer("c")
	if err != nil {
		t.Fatal(err)
	}
	return dividedContainer{container, t, engine}
}

// fill creates items with the numbers from up to (not including) to, each in its own partition.
// It returns their ids.
func (c dividedContainer) fill(from, to int) (ids []string) {
	c.t.Helper()
	for i := from; i < to; i++ {
		id := fmt.Sprintf("i%03d", i)
		item := fmt.Sprintf(`{"id":%q,"pk":%q}`, id, id)
		if _, err := c.CreateItem(c.t.Context(), azcosmos.NewPartitionKeyString(id), []byte(item), nil); err != nil {
			c.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// split splits the partition key ranges with the given ids.
func (c dividedContainer) split(ranges ...string) {
	c.t.Helper()
	for _, id := range ranges {
		if err := c.engine.Split("d", "c", id); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c dividedContainer) feedRanges() []azcosmos.FeedRange {
	c.t.Helper()
	ranges, err := c.ReadFeedRanges(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return ranges
}

// changes reads a page of at most five changes.
func (c dividedContainer) changes(feedRange azcosmos.FeedRange, continuation string) (ids []string, next string) {
	c.t.Helper()
	options := &azcosmos.ChangeFeedOptions{MaxItemCount: 5, FeedRange: &feedRange}
	if continuation != "" {
		options.Continuation = &continuation
	}
	page, err := c.ReadChangeFeed(c.t.Context(), options)
	if err != nil {
		c.t.Fatal(err)
	}
	return idsOfItems(c.t, page.Items), page.ContinuationToken
}

// changesToEnd reads all changes after a continuation.
func (c dividedContainer) changesToEnd(feedRange azcosmos.FeedRange, continuation string) (ids []string, next string) {
	c.t.Helper()
	for {
		page, next := c.changes(feedRange, continuation)
		if len(page) == 0 {
			return ids, next
		}
		ids, continuation = append(ids, page...), next
	}
}

func idsOfItems(t *testing.T, items [][]byte) (ids []string) {
	t.Helper()
	for _, item := range items {
		var named struct{ ID string }
		if err := json.Unmarshal(item, &named); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, named.ID)
	}
	return ids
}

// checkIDs checks that got has each wanted id once, in any order.
func checkIDs(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

var everything = azcosmos.FeedRange{MinInclusive: "", MaxExclusive: "FF"}

// TestChangeFeedAfterSplit reads a change feed whose feed ranges are split while it is read:
// with feed ranges from before the split, and with those after it.
func TestChangeFeedAfterSplit(t *testing.T) {
	for _, throughput := range []int32{400, 25_000} {
		t.Run(fmt.Sprint(throughput), func(t *testing.T) {
			c := newDividedContainer(t, throughput)
			all := c.fill(0, 60)
			ranges := c.feedRanges()
			got := map[azcosmos.FeedRange][]string{}
			next := map[azcosmos.FeedRange]string{}
			for _, r := range append(ranges, everything) {
				got[r], next[r] = c.changes(r, "")
			}
			c.split("0")                                      // the only range, or the first of three
			c.split(fmt.Sprint(len(ranges)))                  // the lower half of that range
			all = append(all, c.fill(60, 80)...)              // readers with the old ranges get these too
			fresh, freshEnd := c.changesToEnd(everything, "") // started after the split
			checkIDs(t, "a change feed started after the split", fresh, all)
			for r, continuation := range next {
				rest, end := c.changesToEnd(r, continuation)
				got[r], next[r] = append(got[r], rest...), end
			}
			checkIDs(t, "a change feed started before the split", got[everything], all)
			if len(ranges) > 1 {
				var parts []string
				for _, r := range ranges {
					parts = append(parts, got[r]...)
				}
				checkIDs(t, "the change feeds of the old ranges", parts, all)
			}
			more := c.fill(80, 90)
			for what, continuation := range map[string]string{"before": next[everything], "after": freshEnd} {
				rest, _ := c.changesToEnd(everything, continuation)
				checkIDs(t, "later changes, in a change feed started "+what+" the split", rest, more)
			}
			var parts []string
			for _, r := range c.feedRanges() {
				page, _ := c.changesToEnd(r, "")
				parts = append(parts, page...)
			}
			checkIDs(t, "the change feeds of the new ranges", parts, append(all, more...))
			if now := len(c.feedRanges()); now != len(ranges)+2 {
				t.Errorf("%d feed ranges after two splits of %d", now, len(ranges))
			}
		})
	}
}

// TestReadManyAfterSplit reads items by ids with cached ranges that were split.
func TestReadManyAfterSplit(t *testing.T) {
	c := newDividedContainer(t, 400)
	all := c.fill(0, 40)
	var identities []azcosmos.ItemIdentity
	for _, id := range all {
		identities = append(identities, azcosmos.ItemIdentity{ID: id, PartitionKey: azcosmos.NewPartitionKeyString(id)})
	}
	for _, split := range []string{"", "0", "2"} {
		if split != "" {
			c.split(split)
		}
		read, err := c.ReadManyItems(t.Context(), identities, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkIDs(t, "read many", idsOfItems(t, read.Items), all)
	}
}

// TestQueryAfterSplit resumes a query across partitions that was started before the split.
func TestQueryAfterSplit(t *testing.T) {
	c := newDividedContainer(t, 400)
	all := c.fill(0, 40)
	pager := c.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{PageSizeHint: 7})
	var got []string
	for pages := 0; pager.More(); pages++ {
		if pages == 2 {
			c.split("0", "1")
		}
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, idsOfItems(t, page.Items)...)
	}
	checkIDs(t, "the pages", got, all)
}

// TestSessionAfterSplit reads with the session token of a range that was split.
func TestSessionAfterSplit(t *testing.T) {
	c := newDividedContainer(t, 400)
	ids := c.fill(0, 10)
	written, err := c.UpsertItem(t.Context(), azcosmos.NewPartitionKeyString(ids[0]), []byte(fmt.Sprintf(`{"id":%q,"pk":%q}`, ids[0], ids[0])), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.split("0")
	tokens := []string{*written.SessionToken}
	for _, id := range ids {
		read, err := c.ReadItem(t.Context(), azcosmos.NewPartitionKeyString(id), id, &azcosmos.ItemOptions{SessionToken: &tokens[len(tokens)-1]})
		if err != nil {
			t.Fatal(err)
		}
		merged := cosmos.SessionToken{} // as a session does
		for _, token := range append(tokens, *read.SessionToken) {
			merged.Merge(token)
		}
		tokens = append(tokens, merged.String())
	}
	if last := tokens[len(tokens)-1]; strings.Count(last, ",") != 2 {
		t.Errorf("the session token is %s, want three ranges", last)
	}
}

// TestNarrowedContinuationResumes checks that the parts of a continuation return the same
// changes as the whole continuation.
func TestNarrowedContinuationResumes(t *testing.T) {
	w := newWorld(t)
	anna := w.AddUser("anna")
	for range 20 {
		w.AddPost(anna)
	}
	_, read := w.changes(schema.Posts, "", 7)
	for range 20 {
		w.AddPost(anna)
	}
	whole, _ := w.changes(schema.Posts, read, 100)
	for _, r := range []follow.FeedRange{{Min: "", Max: "1F"}, {Min: "1F", Max: "FF"}} {
		part, err := follow.NarrowContinuation(read, r)
		w.OK(err)
		page, err := w.Changes(t.Context(), schema.Posts, r, part, 100)
		w.OK(err) // the engine returns the changes of the whole range for a part of it
		if !slices.EqualFunc(page.Changes, whole, func(a, b changefeed.Change) bool { return a.ID == b.ID }) {
			t.Errorf("%d changes from %q on, want %d", len(page.Changes), r.Min, len(whole))
		}
	}
}
