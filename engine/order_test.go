package engine

import (
	"fmt"
	"slices"
	"testing"
)

// TestUnsortedResultsAreInCreationOrder queries across partitions without ORDER BY. Later
// changes of items do not affect their order. A full page has a continuation even if it is the
// last.
func TestUnsortedResultsAreInCreationOrder(t *testing.T) {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", blogContainer, "x-ms-offer-throughput", "30000"))
	var want []string
	for i := range 20 {
		id := fmt.Sprintf("i%d", i)
		a.create(fmt.Sprintf("p%d", i%7), fmt.Sprintf(`{"id":%q,"postId":"p%d"}`, id, i%7))
		want = append(want, id)
	}
	a.must(200, a.send("PUT", docs+"/i3", `{"id":"i3","postId":"p3","n":1}`, "pk", "p3"))
	a.must(204, a.send("DELETE", docs+"/i5", "", "pk", "p5"))
	a.create("p5", `{"id":"i5","postId":"p5"}`)
	want = append(append(want[:5:5], want[6:]...), "i5")
	if got, pages := a.allIDs("5"); fmt.Sprint(got) != fmt.Sprint(want) || pages != 5 {
		t.Errorf("in %d pages: %v, want %v", pages, got, want)
	}
	if got, pages := a.allIDs("7"); fmt.Sprint(got) != fmt.Sprint(want) || pages != 3 {
		t.Errorf("in %d pages: %v, want %v", pages, got, want)
	}
	seen := map[string]bool{}
	for _, r := range []string{"0", "1", "2"} {
		got, _ := a.allIDs("2", "x-ms-documentdb-partitionkeyrangeid", r)
		for i, id := range got {
			if seen[id] || i > 0 && slices.Index(want, got[i-1]) > slices.Index(want, id) {
				t.Errorf("range %s: %v", r, got)
			}
			seen[id] = true
		}
	}
	if len(seen) != len(want) {
		t.Errorf("the ranges hold %d items", len(seen))
	}
}

// allIDs returns the ids of all items, read in pages of a size, and the number of pages.
func (a *account) allIDs(size string, headers ...string) (ids []string, pages int) {
	a.t.Helper()
	for token := ""; ; {
		page := a.must(200, a.query("", `{"query":"SELECT c.id FROM c"}`, append(headers, "x-ms-max-item-count", size, "x-ms-continuation", token)...))
		ids = append(ids, page.ids()...)
		pages++
		if token = page.header.Get("X-Ms-Continuation"); token == "" {
			return ids, pages
		}
	}
}
