//go:build ci

package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// TestRanges covers the list of physical ranges, and clients that continue after a split.
func TestRanges(t *testing.T) {
	t.Run("pkranges until 304", testRangeList)
	t.Run("several ranges", testSeveralRanges)
	t.Run("split", testSplit)
	t.Run("azcosmos across a split", testSplitByAzcosmos)
}

func (a *account) ranges() []any {
	a.t.Helper()
	got := a.must(200, documented, a.send("GET", a.path()+"/pkranges", "", "A-IM", "Incremental Feed", "x-ms-max-item-count", "-1"))
	ranges, _ := got.at("PartitionKeyRanges").([]any)
	return ranges
}

func testRangeList(t *testing.T) {
	a := open(t)
	got := a.must(200, documented, a.send("GET", a.path()+"/pkranges", "", "A-IM", "Incremental Feed", "x-ms-max-item-count", "-1"))
	ranges, _ := got.at("PartitionKeyRanges").([]any)
	if len(ranges) != 1 {
		t.Fatalf("ranges: %s", got.text)
	}
	if _, isText := at(ranges[0], "id").(string); !isText {
		t.Errorf("id %v is not a string (%s)", at(ranges[0], "id"), fromSDKs)
	}
	a.equal("min", at(ranges[0], "minInclusive"), "", fromSDKs)
	a.equal("max", at(ranges[0], "maxExclusive"), "FF", fromSDKs)
	a.equal("_count", got.at("_count"), 1, fromSDKs)
	if got.etag() == "" {
		t.Fatalf("no etag (%s)", fromSDKs)
	}
	a.must(304, fromSDKs, a.send("GET", a.path()+"/pkranges", "", "A-IM", "Incremental Feed", "If-None-Match", got.etag()))
}

func testSeveralRanges(t *testing.T) {
	a := openEngine(t, "a container of 25,000 RU/s costs money", cosmostest.Options{})
	a.must(201, documented, a.send("POST", "dbs/blog/colls", fmt.Sprintf(items, "wide"), "x-ms-offer-throughput", "25000"))
	a.container = "wide"
	ranges := a.ranges()
	a.equal("ranges", len(ranges), 3, documented)
	end := ""
	for i := range 30 {
		pk := fmt.Sprint("p", i)
		a.create(pk, fmt.Sprintf(`{"id":"x","pk":%q}`, pk))
	}
	seen := 0
	for _, r := range ranges {
		a.equal("min", at(r, "minInclusive"), end, fromSDKs)
		end, _ = at(r, "maxExclusive").(string)
		id, _ := at(r, "id").(string)
		feed := a.must(200, fromSDKs, a.changes("", "x-ms-documentdb-partitionkeyrangeid", id))
		seen += len(feed.rows())
	}
	a.equal("max", end, "FF", fromSDKs)
	a.equal("changes", seen, 30, fromSDKs)
	a.equal("query", len(a.must(200, documented, a.query("", "SELECT * FROM c")).rows()), 30, documented)
}

func testSplit(t *testing.T) {
	a := openEngine(t, "the test splits a range", cosmostest.Options{})
	for i := range 12 {
		pk := fmt.Sprint("p", i)
		a.create(pk, fmt.Sprintf(`{"id":"x%d","pk":%q}`, i, pk))
	}
	before := a.must(200, documented, a.changes("", "x-ms-max-item-count", "5"))
	if err := a.engine.Split("blog", "items", "0"); err != nil {
		t.Fatal(err)
	}
	a.rejected(410, "1002", fromSDKs, a.changes(before.etag()))
	a.rejected(410, "1002", fromSDKs, a.query("", "SELECT * FROM c", "x-ms-documentdb-partitionkeyrangeid", "0"))
	children := a.ranges()
	a.equal("children", len(children), 2, fromSDKs)
	rest := 0
	for _, child := range children {
		a.equal("parents", at(child, "parents"), `["0"]`, fromSDKs)
		id, _ := at(child, "id").(string)
		got := a.changes(before.etag(), "x-ms-documentdb-partitionkeyrangeid", id)
		rest += len(got.rows())
	}
	a.equal("changes after the split", rest, 7, fromSDKs)
}

func testSplitByAzcosmos(t *testing.T) {
	a := openEngine(t, "the test splits a range", cosmostest.Options{})
	c := a.azcosmos(nil)
	ranges, err := c.ReadFeedRanges(a.t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		pk := fmt.Sprint("p", i)
		a.create(pk, fmt.Sprintf(`{"id":"x%02d","pk":%q}`, i, pk))
	}
	var seen []string
	options := azcosmos.ChangeFeedOptions{FeedRange: &ranges[0], MaxItemCount: 4}
	for page := 0; ; page++ {
		got, err := c.ReadChangeFeed(a.t.Context(), &options)
		if err != nil {
			t.Fatal(err)
		}
		if got.Count == 0 {
			break
		}
		for _, item := range got.Items {
			seen = append(seen, idOf(t, item))
		}
		if page == 0 {
			if err := a.engine.Split("blog", "items", "0"); err != nil {
				t.Fatal(err)
			}
		}
		token := got.ContinuationToken
		options = azcosmos.ChangeFeedOptions{Continuation: &token, MaxItemCount: 4}
	}
	slices.Sort(seen)
	a.equal("items", len(slices.Compact(slices.Clone(seen))), 12, fromSDKs)
	a.equal("items without duplicates", len(seen), 12, fromSDKs)
}
