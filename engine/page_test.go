package engine

import (
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/value"
)

// retrieved returns the number of items loaded according to the query's metrics.
func retrieved(t *testing.T, got answer) int {
	t.Helper()
	found := regexp.MustCompile(`retrievedDocumentCount=(\d+);`).FindStringSubmatch(got.header.Get("X-Ms-Documentdb-Query-Metrics"))
	if found == nil {
		t.Fatalf("no metrics: %v", got.header)
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// queryBody returns the body of a query. parameters are pairs of a name and a JSON text.
func queryBody(text string, parameters ...string) string {
	var list []string
	for i := 0; i < len(parameters); i += 2 {
		list = append(list, fmt.Sprintf(`{"name":%q,"value":%s}`, parameters[i], parameters[i+1]))
	}
	return fmt.Sprintf(`{"query":%s,"parameters":[%s]}`, value.String(text), strings.Join(list, ","))
}

// createMany creates items in one partition, in batches of a hundred.
func (a *account) createMany(pk string, count int, item func(i int) string) {
	a.t.Helper()
	for i := 0; i < count; {
		var operations []string
		for ; len(operations) < maxBatchOperations && i < count; i++ {
			operations = append(operations, `{"operationType":"Create","resourceBody":`+item(i)+`}`)
		}
		body := "[" + strings.Join(operations, ",") + "]"
		a.must(200, a.send("POST", docs, body, "pk", pk, "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True", "Prefer", "return=minimal"))
	}
}

var sortedComments = flag.Int("sorted-comments", 1000, "number of comments in the partition of TestSortedPagesReadAPage")

func comment(i, date int) string {
	return fmt.Sprintf(`{"id":"%s","postId":"p","type":"comment","creationDate":"%s"}`, commentID(i), commentDate(date))
}

// commentOfThree returns the i-th comment of a post that has three comments for each date.
func commentOfThree(i int) string { return comment(i, i/3) }

func commentID(i int) string      { return fmt.Sprintf("c%06d", i) }
func commentDate(date int) string { return fmt.Sprintf("2026-01-01T%06d", date) }

// TestSortedPagesReadAPage checks that a page of a sorted query reads only its items and the
// next one, however large the partition is. It tests the first page and middle pages, found by
// continuation or by the last item's value, in both directions. The order comes from a composite
// index or, for one property, from a part of it or from the items' keys.
// TestRangesSeekByTheDocumentedRules has the orders whose middle pages are not found by a value.
func TestSortedPagesReadAPage(t *testing.T) {
	count, size := *sortedComments, 20
	a := newBlog(t, Options{})
	a.create("p", `{"id":"a-post","postId":"p","type":"post","creationDate":"2026"}`)
	a.createMany("p", count, func(i int) string { return comment(i, i) })
	for _, test := range []struct{ order, where, after string }{
		{"c.postId, c.id", "c.postId = 'p'", "c.id > @id"},
		{"c.postId DESC, c.id DESC", "c.postId = 'p'", "c.id < @id"},
		{"c.type, c.creationDate DESC, c.id DESC", "c.type = 'comment'", "true"},
		{"c.creationDate", "c.type = 'comment'", "true"},
		{"c.creationDate DESC", "c.type = 'comment'", "true"},
		{"c.id", "c.postId = 'p'", "true"},
		{"c.id DESC", "c.postId = 'p'", "true"},
	} {
		for name, where := range map[string]string{"first": test.where, "middle": test.where + " AND " + test.after} {
			text := "SELECT * FROM c WHERE " + where + " ORDER BY " + test.order
			body := queryBody(text, "@id", strconv.Quote(commentID(count/2)))
			got := a.must(200, a.query("p", body, "x-ms-max-item-count", fmt.Sprint(size)))
			if n := retrieved(t, got); n > size+1 || len(got.items()) != size {
				t.Errorf("%s: the %s page has %d items but loaded %d", text, name, len(got.items()), n)
			}
			next := a.must(200, a.query("p", body, "x-ms-max-item-count", fmt.Sprint(size), "x-ms-continuation", got.header.Get("X-Ms-Continuation")))
			if n := retrieved(t, next); n > size+1 || len(next.items()) != size || slices.Equal(next.ids(), got.ids()) {
				t.Errorf("%s: the page after the %s has %d items but loaded %d", text, name, len(next.items()), n)
			}
		}
	}
}

// TestSortedPagesReturnExpectedRows compares the rows of the same queries.
func TestSortedPagesReturnExpectedRows(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p", `{"id":"a-post","postId":"p","type":"post","creationDate":"2026"}`)
	a.createMany("p", 50, commentOfThree)
	for _, test := range []struct {
		text string
		want []int
	}{
		{"SELECT TOP 3 * FROM c WHERE c.type = 'comment' AND c.creationDate >= @date AND (c.creationDate > @date OR c.id > @id) ORDER BY c.type, c.creationDate, c.id", []int{26, 27, 28}},
		{"SELECT TOP 3 * FROM c WHERE c.type = 'comment' AND c.creationDate <= @date AND (c.creationDate < @date OR c.id < @id) ORDER BY c.type, c.creationDate DESC, c.id DESC", []int{24, 23, 22}},
		{"SELECT * FROM c WHERE c.type = 'comment' AND c.creationDate > @date ORDER BY c.creationDate OFFSET 3 LIMIT 3", []int{30, 31, 32}},
		{"SELECT TOP 2 * FROM c WHERE c.type = 'comment' AND c.creationDate < '2026-01-01T000001' ORDER BY c.creationDate DESC", []int{2, 1}},
		{"SELECT TOP 2 * FROM c WHERE c.type = 'comment' ORDER BY c.id DESC", []int{49, 48}},
		{"SELECT TOP 2 * FROM c WHERE c.type = 'comment' ORDER BY c.id", []int{0, 1}},
	} {
		var want []string
		for _, i := range test.want {
			want = append(want, commentID(i))
		}
		got := a.must(200, a.query("p", queryBody(test.text, "@date", strconv.Quote(commentDate(25/3)), "@id", strconv.Quote(commentID(25)))))
		if !slices.Equal(got.ids(), want) {
			t.Errorf("%s: %v, want %v", test.text, got.ids(), want)
		}
	}
}

// TestFilterAcrossPartitionsReadsWhatMatches checks that a scalar path included by name finds
// its items, across the container and across one of its physical ranges.
func TestFilterAcrossPartitionsReadsWhatMatches(t *testing.T) {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", blogContainer, "x-ms-offer-throughput", "20000"))
	for i := range 300 {
		pk := fmt.Sprintf("p%d", i)
		a.create(pk, fmt.Sprintf(`{"id":"x","postId":%q,"userId":"u%d"}`, pk, i%100))
	}
	for where, want := range map[string]int{"c.userId = 'u7'": 3, "c.userId > 'u97'": 6, "c.userId >= 'u3' AND c.userId < 'u31'": 6, "c.userId BETWEEN 'u4' AND 'u41'": 9} {
		body := queryBody("SELECT * FROM c WHERE " + where + " AND c.postId != 'p107'")
		across := a.must(200, a.query("", body))
		items, read := 0, 0
		for _, id := range []string{"0", "1"} {
			got := a.must(200, a.query("", body, "x-ms-documentdb-partitionkeyrangeid", id))
			items, read = items+len(got.items()), read+retrieved(t, got)
		}
		if n := retrieved(t, across); n != want || read != want || items != len(across.items()) {
			t.Errorf("%s: across the container, %d items with %d loaded; across its ranges, %d with %d loaded; want %d loaded", where, len(across.items()), n, items, read, want)
		}
	}
}

// TestPagesEndAtTimeLimit checks that a page of slow items ends early with a continuation, and
// that all pages together are complete. The clock advances by a second per item.
func TestPagesEndAtTimeLimit(t *testing.T) {
	a := newBlog(t, Options{})
	a.createMany("p", 50, commentOfThree)
	all := make([]string, 50)
	for i := range all {
		all[i] = commentID(i)
	}
	for _, test := range []struct {
		text  string
		want  []string
		pages int // minimum
	}{
		{"SELECT * FROM c", all, 8},
		{"SELECT * FROM c ORDER BY c.type, c.creationDate, c.id", all, 8},
		{"SELECT * FROM c WHERE c.creationDate = '2026-01-01T000016'", all[48:], 8},
		{"SELECT * FROM c OFFSET 20 LIMIT 10", all[20:30], 4},
		{"SELECT TOP 15 * FROM c", all[:15], 2},
		{"SELECT * FROM c WHERE false", nil, 8},
		{"SELECT * FROM c ORDER BY c.creationDate", all, 1},
		{"SELECT DISTINCT c.id FROM c", all, 1},
	} {
		a.clock.autoAdvance(time.Second)
		var got []string
		pages := 0
		for token := ""; pages == 0 || token != ""; pages++ {
			page := a.must(200, a.query("p", queryBody(test.text), "x-ms-continuation", token))
			got, token = append(got, page.ids()...), page.header.Get("X-Ms-Continuation")
		}
		a.clock.autoAdvance(0)
		if !slices.Equal(got, test.want) || pages < test.pages {
			t.Errorf("%s: %v in %d pages, want %v in %d", test.text, got, pages, test.want, test.pages)
		}
	}
}

// TestRowsTooLarge checks that a row longer than a page is rejected, and that the next query
// succeeds.
func TestRowsTooLarge(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p", `{"id":"x","postId":"p","text":"`+strings.Repeat("a", 1<<20)+`"}`)
	for _, text := range []string{
		"SELECT c.text AS a, c.text AS b, c.text AS c, c.text AS d FROM c",
		"SELECT VALUE [" + strings.Repeat("c,", 10_000) + "c] FROM c",
		"SELECT VALUE LENGTH(TOSTRING([" + strings.Repeat("c.text || 'x',", 10_000) + "c])) FROM c",
	} {
		if got := a.query("p", queryBody(text)); got.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%.40s…: %d", text, got.status)
		}
	}
	a.must(200, a.query("p", queryBody("SELECT c.text AS a, c.text AS b FROM c")))
}
