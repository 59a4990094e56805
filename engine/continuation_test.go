package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// policedContainer returns the blog's container with the given composite indexes and included
// paths.
func policedContainer(composite, included string) string {
	return `{"id":"posts","partitionKey":{"paths":["/postId"],"kind":"Hash","version":2},"defaultTtl":-1,
		"indexingPolicy":{"includedPaths":[{"path":"/*"}` + included + `],"compositeIndexes":[` + composite + `]}}`
}

// TestPagesAcrossIndexingPolicyChanges changes the indexing policy between two pages. No row may
// be lost or returned twice. If the items are no longer found in the same way, a query without a
// total order is rejected.
func TestPagesAcrossIndexingPolicyChanges(t *testing.T) {
	const (
		up   = `[{"path":"/type","order":"ascending"},{"path":"/date","order":"ascending"}]`
		down = `[{"path":"/type","order":"ascending"},{"path":"/date","order":"descending"}]`
		full = `[{"path":"/date"},{"path":"/id"}]`
		user = `,{"path":"/userId/?"}`
	)
	const naked, filter = "", "SELECT * FROM c WHERE c.type = 'comment'"
	for _, test := range []struct {
		pk, text, before, after string
		status                  int
	}{
		{"p", filter, policedContainer(up, ""), policedContainer(naked, ""), 400},
		{"p", filter, policedContainer(naked, ""), policedContainer(up, ""), 400},
		{"p", filter, policedContainer(up, ""), policedContainer(down, ""), 400},
		{"p", filter, policedContainer(up, ""), policedContainer(up, user), 200},
		{"p", "SELECT DISTINCT c.id FROM c WHERE c.type = 'comment'", policedContainer(naked, ""), policedContainer(down, ""), 400},
		{"p", filter + " ORDER BY c.date", policedContainer(up, ""), policedContainer(naked, ""), 400},
		{"p", filter + " ORDER BY c.date", policedContainer(naked, ""), policedContainer(up, ""), 400},
		{"p", filter + " ORDER BY c.date", policedContainer(up, ""), policedContainer(up, user), 200},
		{"p", filter + " ORDER BY c.type, c.date", policedContainer(down+","+up, ""), policedContainer(up, ""), 400},
		{"p", filter + " ORDER BY c.date, c.id", policedContainer(full, ""), policedContainer(down+","+full, ""), 200},
		{"p", filter + " ORDER BY c.date, c.id", policedContainer(down+","+full, ""), policedContainer(full, ""), 200},
		{"p", filter + " ORDER BY c.id", policedContainer(up, ""), policedContainer(naked, ""), 200},
		{"p", filter + " ORDER BY c.id", policedContainer(naked, ""), policedContainer(up, ""), 200},
		{"p", filter + " ORDER BY c.id", policedContainer(naked, ""), policedContainer(full, ""), 200},
		{"", "SELECT * FROM c WHERE c.userId = 'u'", policedContainer(naked, user), policedContainer(naked, ""), 400},
		{"", "SELECT * FROM c WHERE c.userId = 'u'", policedContainer(naked, ""), policedContainer(naked, user), 400},
	} {
		a := newBlog(t, Options{})
		a.must(200, a.send("PUT", posts, test.before))
		var want []string
		a.createMany("p", 20, func(i int) string {
			want = append(want, commentID(i))
			return fmt.Sprintf(`{"id":"%s","postId":"p","type":"comment","userId":"u","date":%d}`, commentID(i), i/4)
		})
		page := func(token string) answer {
			return a.query(test.pk, queryBody(test.text), "x-ms-max-item-count", "7", "x-ms-continuation", token)
		}
		got := a.must(200, page(""))
		a.must(200, a.send("PUT", posts, test.after))
		ids := got.ids()
		for token := got.header.Get("X-Ms-Continuation"); token != "" && got.status == 200; token = got.header.Get("X-Ms-Continuation") {
			got = page(token)
			ids = append(ids, got.ids()...)
		}
		if got.status != test.status || test.status == 200 && !slices.Equal(ids, want) {
			t.Errorf("%s, from %s to %s: %d, want %d: %v", test.text, test.before, test.after, got.status, test.status, ids)
		}
	}
}

// TestContinuationsOfLongTextsFitInHeaders uses an index with long texts. The pages must return
// all rows, even if they reach the time limit.
func TestContinuationsOfLongTextsFitInHeaders(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(200, a.send("PUT", posts, policedContainer(`[{"path":"/type"},{"path":"/text"}]`, `,{"path":"/userId/?"}`)))
	long := strings.Repeat("x", 20_000)
	var want []string
	for i := range 20 {
		want = append(want, commentID(i))
		a.create("p", fmt.Sprintf(`{"id":"%s","postId":"p","type":"comment","text":"%s%02d","userId":"%s"}`, commentID(i), long, i, long))
	}
	a.clock.autoAdvance(1e9)
	defer a.clock.autoAdvance(0)
	for _, test := range []struct{ pk, text string }{
		{"p", "SELECT * FROM c ORDER BY c.type, c.text"},
		{"p", "SELECT * FROM c WHERE c.type = 'comment' ORDER BY c.text"},
		{"p", "SELECT * FROM c WHERE c.type = 'comment'"},
		{"", "SELECT * FROM c WHERE c.userId > 'x'"},
	} {
		var ids []string
		pages := 0
		for token := ""; pages == 0 || token != ""; pages++ {
			got := a.must(200, a.query(test.pk, queryBody(test.text), "x-ms-max-item-count", "3", "x-ms-continuation", token))
			ids, token = append(ids, got.ids()...), got.header.Get("X-Ms-Continuation")
			if len(token) > 8<<10 || pages > 20 {
				t.Fatalf("%s: page %d has a continuation of %d bytes", test.text, pages, len(token))
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: %v in %d pages", test.text, ids, pages)
		}
	}
}
