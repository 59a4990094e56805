//go:build ci

package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// TestChangeFeed covers the change feed in the mode "latest version".
func TestChangeFeed(t *testing.T) {
	t.Run("etag is the LSN", testFeedNumbers)
	t.Run("latest version only", testFeedLatest)
	t.Run("from now", testFeedFromNow)
	t.Run("from a date", testFeedFromDate)
	t.Run("of a partition key", testFeedOfPartition)
	t.Run("of a part of a range", testFeedOfPart)
	t.Run("pages end between transactions", testFeedPages)
	t.Run("full fidelity", testFeedFullFidelity)
	t.Run("azcosmos", testFeedByAzcosmos)
}

func testFeedNumbers(t *testing.T) {
	a := open(t)
	empty := a.must(304, documented, a.changes(""))
	if empty.etag() == "" || empty.text != "" {
		t.Errorf("304 with etag %q and body %q (%s)", empty.etag(), empty.text, documented)
	}
	a.fill("p", 3)
	got := a.must(200, documented, a.changes(empty.etag()))
	a.equal("ids", got.ids(), "i00 i01 i02", documented)
	last := got.rows()[2]
	a.equal("etag", got.etag(), fmt.Sprintf("%q", fmt.Sprint(at(last, "_lsn"))), fromSDKs)
	after := a.must(304, documented, a.changes(got.etag()))
	a.equal("etag without changes", after.etag(), got.etag(), fromSDKs)
	a.equal("etag without quotes", a.must(200, assumed, a.changes(strings.Trim(fmt.Sprint(at(got.rows()[0], "_lsn")), `"`))).ids(), "i01 i02", assumed)
}

func testFeedLatest(t *testing.T) {
	a := open(t)
	a.fill("p", 3)
	a.must(200, documented, a.send("PUT", a.docs()+"/i00", `{"id":"i00","pk":"p","n":9}`, "pk", "p"))
	a.must(204, documented, a.send("DELETE", a.docs()+"/i01", "", "pk", "p"))
	got := a.must(200, documented, a.changes(""))
	a.equal("ids", got.ids(), "i02 i00", documented)
	a.equal("n", at(got.rows()[1], "n"), 9, documented)
}

func testFeedFromNow(t *testing.T) {
	a := open(t)
	a.fill("p", 2)
	now := a.must(304, documented, a.changes("*"))
	a.create("p", `{"id":"new","pk":"p"}`)
	a.equal("ids", a.must(200, documented, a.changes(now.etag())).ids(), "new", documented)
}

func testFeedFromDate(t *testing.T) {
	a := openEngine(t, "the test sets the clock", cosmostest.Options{})
	a.create("p", `{"id":"old","pk":"p"}`)
	a.clock.Advance(time.Hour)
	a.create("p", `{"id":"new","pk":"p"}`)
	since := a.clock.Now().Add(-time.Minute).UTC()
	for date, source := range map[string]basis{since.Format(http.TimeFormat): documented, since.Format(time.RFC1123): assumed} {
		a.equal(date, a.must(200, source, a.changes("", "If-Modified-Since", date)).ids(), "new", source)
	}
	a.equal("If-None-Match has precedence", a.must(200, fromSDKs, a.changes(`"0"`, "If-Modified-Since", since.Format(http.TimeFormat))).ids(), "old new", fromSDKs)
	a.equal("invalid date", a.must(200, fromSDKs, a.changes("", "If-Modified-Since", "yesterday")).ids(), "old new", fromSDKs)
	a.must(304, documented, a.changes("", "If-Modified-Since", a.clock.Now().UTC().Format(http.TimeFormat)))
}

// testFeedOfPartition covers both forms: azcosmos and Python send the range with the key,
// JavaScript only the key.
func testFeedOfPartition(t *testing.T) {
	a := open(t)
	a.fill("p", 2)
	a.create("q", `{"id":"other","pk":"q"}`)
	a.equal("with the range", a.must(200, fromSDKs, a.changes("", "pk", "q")).ids(), "other", fromSDKs)
	got := a.must(200, fromSDKs, a.send("GET", a.docs(), "", "A-IM", "Incremental feed", "pk", "p"))
	a.equal("only the key", got.ids(), "i00 i01", fromSDKs)
	a.must(304, fromSDKs, a.changes(got.etag(), "pk", "p"))
}

// testFeedOfPart covers a range that a client divided: it is addressed by its physical range and
// two effective partition keys. Python also addresses a partition key that way.
func testFeedOfPart(t *testing.T) {
	a := open(t)
	for i := range 12 {
		a.create(fmt.Sprint("p", i), fmt.Sprintf(`{"id":"x%d","pk":"p%d"}`, i, i))
	}
	const middle = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
	part := func(start, end string) []string {
		got := a.must(200, fromSDKs, a.changes("", "x-ms-read-key-type", "EffectivePartitionKeyRange", "x-ms-start-epk", start, "x-ms-end-epk", end))
		query := a.must(200, fromSDKs, a.query("", "SELECT * FROM c", "x-ms-documentdb-partitionkeyrangeid", "0", "x-ms-start-epk", start, "x-ms-end-epk", end))
		a.equal("query", len(query.rows()), len(got.rows()), fromSDKs)
		return strings.Fields(got.ids())
	}
	low, high := part("", middle), part(middle, "FF")
	if len(low) == 0 || len(high) == 0 || len(low)+len(high) != 12 {
		t.Errorf("halves: %v and %v", low, high)
	}
	a.must(400, assumed, a.changes("", "x-ms-start-epk", "xyz", "x-ms-end-epk", "FF"))
}

func testFeedPages(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"before","pk":"p"}`)
	a.must(200, documented, a.batch("p", `[{"operationType":"Create","resourceBody":{"id":"one","pk":"p"}},{"operationType":"Create","resourceBody":{"id":"two","pk":"p"}}]`))
	a.create("p", `{"id":"after","pk":"p"}`)
	var pages []string
	for etag := ""; ; {
		page := a.changes(etag, "x-ms-max-item-count", "1")
		if page.status == http.StatusNotModified || len(pages) > 5 {
			break
		}
		pages, etag = append(pages, fmt.Sprint(len(page.rows()))), page.etag()
	}
	a.equal("page sizes", strings.Join(pages, " "), "1 2 1", fromSDKs)
}

func testFeedFullFidelity(t *testing.T) {
	a := openEngine(t, "its support depends on the account's settings", cosmostest.Options{})
	a.rejected(400, "", engineOnly, a.send("GET", a.docs(), "", "A-IM", "Full-Fidelity Feed", "x-ms-documentdb-partitionkeyrangeid", "0"))
}

func testFeedByAzcosmos(t *testing.T) {
	a := open(t)
	a.fill("p", 5)
	c := a.azcosmos(nil)
	ranges, err := c.ReadFeedRanges(a.t.Context(), nil)
	if err != nil || len(ranges) != 1 {
		t.Fatalf("%v %v", ranges, err)
	}
	options := azcosmos.ChangeFeedOptions{FeedRange: &ranges[0], MaxItemCount: 2}
	found := 0
	for {
		page, err := c.ReadChangeFeed(a.t.Context(), &options)
		if err != nil {
			t.Fatal(err)
		}
		if page.Count == 0 {
			break
		}
		found += page.Count
		token := page.ContinuationToken
		options = azcosmos.ChangeFeedOptions{Continuation: &token, MaxItemCount: 2}
	}
	a.equal("items", found, 5, fromSDKs)
}
