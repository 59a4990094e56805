package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/engine/value"
)

func charge(t *testing.T, a answer) float64 {
	t.Helper()
	ru, err := strconv.ParseFloat(a.header.Get("X-Ms-Request-Charge"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return ru
}

// TestPublishedCharges compares charges with the points that Microsoft publishes
// (request-units.md): 1 RU for a point read of 1 KB and 10 RU for 100 KB; about 5 RU for a write
// of 1 KB without indexes and 50 RU for 100 KB.
func TestPublishedCharges(t *testing.T) {
	for _, point := range []struct{ got, want float64 }{
		{readCharge(1 << 10), 1}, {readCharge(100 << 10), 10},
		{createCharge(1<<10, 0), 5}, {createCharge(100<<10, 0), 50},
	} {
		if math.Abs(point.got-point.want) > 0.05*point.want {
			t.Errorf("%.2f RU, published: %.2f", point.got, point.want)
		}
	}
}

// openContainer has no indexes, so writes are charged only by their bytes.
const openContainer = `{"id":"open","partitionKey":{"paths":["/postId"],"kind":"Hash","version":2},
	"indexingPolicy":{"includedPaths":[],"excludedPaths":[{"path":"/*"}]}}`

const openDocs = "dbs/blog/colls/open/docs"

// sized returns an item whose stored JSON, including system properties, has the given size.
func (a *account) sized(id string, bytes int) string {
	a.t.Helper()
	const probe = `{"id":%q,"postId":"p","blob":%q}`
	name := strings.Repeat("p", len(id))
	stored := len(a.must(201, a.send("POST", openDocs, fmt.Sprintf(probe, name, ""), "pk", "p")).text)
	a.must(204, a.send("DELETE", openDocs+"/"+name, "", "pk", "p"))
	return fmt.Sprintf(probe, id, strings.Repeat("x", bytes-stored))
}

func about(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*want {
		t.Errorf("%s: %.2f RU, want %.2f within %.0f %%", what, got, want, 100*part)
	}
}

// TestPublishedPointsOverHTTP compares whole requests with published points: reads and writes of
// 1 KB and 100 KB, and from the article's table a page of 20 comments and the counts of comments
// and likes.
func TestPublishedPointsOverHTTP(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(201, a.send("POST", "dbs/blog/colls", openContainer))
	for _, point := range []struct {
		kilobytes   int
		read, write float64
	}{{1, 1, 5}, {100, 10, 50}} {
		id := fmt.Sprint("k", point.kilobytes)
		item := a.sized(id, point.kilobytes<<10)
		created := a.must(201, a.send("POST", openDocs, item, "pk", "p"))
		if len(created.text) != point.kilobytes<<10 {
			t.Fatalf("the item has %d bytes", len(created.text))
		}
		about(t, id+" written", charge(t, created), point.write, 0.05)
		about(t, id+" replaced", charge(t, a.must(200, a.send("PUT", openDocs+"/"+id, item, "pk", "p"))), point.write, 0.05)
		about(t, id+" read", charge(t, a.must(200, a.send("GET", openDocs+"/"+id, "", "pk", "p"))), point.read, 0.05)
	}
	for i := range 70 {
		kind, size := "comment", 1200
		if i >= 20 {
			kind, size = "like", 420
		}
		a.create("p", fmt.Sprintf(`{"id":"i%02d","postId":"p","type":%q,"content":%q}`, i, kind, strings.Repeat("x", size-220)))
	}
	page := a.must(200, a.query("p", `{"query":"SELECT * FROM c WHERE c.type = 'comment'"}`, "x-ms-max-item-count", "20"))
	if len(page.items()) != 20 {
		t.Fatalf("the page has %d items", len(page.items()))
	}
	about(t, "a page of 20 comments", charge(t, page), 7.72, 0.15)
	counts := 0.0
	for _, kind := range []string{"comment", "like"} {
		a.create(kind, fmt.Sprintf(`{"id":"other","postId":%q,"type":%q}`, kind, kind)) // of another post
		for _, item := range a.must(200, a.query("p", `{"query":"SELECT * FROM c WHERE c.type = '`+kind+`'"}`)).items() {
			a.create(kind+"s", strings.Replace(string(value.Append(nil, withoutSystem(item))), `"postId":"p"`, `"postId":"`+kind+`s"`, 1))
		}
		counts += charge(t, a.must(200, a.query(kind+"s", `{"query":"SELECT VALUE COUNT(1) FROM c"}`)))
	}
	about(t, "a count of 20 comments and one of 50 likes", counts, 15.3, 0.05)
}

// ledger compares charges with the formula, exact to the two decimals of the header.
type ledger struct{ t *testing.T }

func (l ledger) near(what string, got, want float64) {
	l.t.Helper()
	if math.Abs(got-want) > 0.021 {
		l.t.Errorf("%s: %.2f RU, want %.2f", what, got, want)
	}
}

func leaves(id string, kilobytes, leaves int) string {
	text := fmt.Sprintf(`{"id":%q,"postId":"p","blob":%q`, id, strings.Repeat("x", kilobytes<<10))
	for i := range leaves {
		text += fmt.Sprintf(`,"n%03d":1`, i)
	}
	return text + "}"
}

// TestWritesAreChargedByBytesAndLeaves doubles the bytes, then the leaves, and compares the
// change in the charge of each kind of write.
func TestWritesAreChargedByBytesAndLeaves(t *testing.T) {
	a, is := newBlog(t, Options{}), ledger{t}
	leafBytes := float64(len(`,"n000":1`)) / 1024 // a leaf has bytes too
	writes := []struct {
		name            string
		write           func(id string, kilobytes, n int) answer
		perKB, perLeaf  float64
		bytesAreCharged bool
	}{
		{"create", func(id string, kilobytes, n int) answer { return a.create("p", leaves(id, kilobytes, n)) }, writePerKB, writePerLeaf, true},
		{"upsert", func(id string, kilobytes, n int) answer {
			return a.must(200, a.send("POST", docs, strings.ReplaceAll(leaves(id, kilobytes, n), ":1", ":2"), "pk", "p", "x-ms-documentdb-is-upsert", "True"))
		}, writePerKB, writePerLeaf, true},
		{"replace", func(id string, kilobytes, n int) answer {
			return a.must(200, a.send("PUT", docs+"/"+id, strings.ReplaceAll(leaves(id, kilobytes, n), ":1", ":3"), "pk", "p"))
		}, writePerKB, writePerLeaf, true},
		{"replace without changes", func(id string, kilobytes, n int) answer {
			return a.must(200, a.send("PUT", docs+"/"+id, strings.ReplaceAll(leaves(id, kilobytes, n), ":1", ":3"), "pk", "p"))
		}, writePerKB, 0, true},
		{"patch of one leaf", func(id string, _, _ int) answer {
			return a.must(200, a.send("PATCH", docs+"/"+id, `{"operations":[{"op":"set","path":"/n000","value":4}]}`, "pk", "p"))
		}, writePerKB, 0, true},
		{"delete", func(id string, _, _ int) answer { return a.must(204, a.send("DELETE", docs+"/"+id, "", "pk", "p")) }, 0, writePerLeaf, false},
	}
	for i, w := range writes {
		base := charge(t, w.write("base", 16, 10))
		is.near(w.name+" of twice the bytes", charge(t, w.write("size", 32, 10))-base, 16*w.perKB)
		bytes := 0.0
		if w.bytesAreCharged {
			bytes = 10 * leafBytes * writePerKB
		}
		is.near(w.name+" of twice the leaves", charge(t, w.write("wide", 16, 20))-base, 10*w.perLeaf+bytes)
		if i == 3 || i == 4 { // the constant and the one leaf changed by a patch
			is.near(w.name, base-writeBase-writePerKB*kilobytes(len(a.must(200, a.send("GET", docs+"/base", "", "pk", "p")).text)), float64(i-3)*writePerLeaf)
		}
	}
}

// TestChargesExcludeUnindexedProperties writes the same item under several indexing policies.
func TestChargesExcludeUnindexedProperties(t *testing.T) {
	a, is := newBlog(t, Options{}), ledger{t}
	costs := map[string]float64{}
	for policy, indexed := range map[string]int{ // indexed leaves of id, postId, blob, 10 numbers
		`{}`: 13,
		`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}`:                                  13,
		`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/blob/?"},{"path":"/n000/*"}]}`:                    11,
		`{"includedPaths":[],"excludedPaths":[{"path":"/*"}]}`:                                                         0,
		`{"includedPaths":[{"path":"/n001/?"},{"path":"/none/?"},{"path":"/n002/*"}],"excludedPaths":[{"path":"/*"}]}`: 2,
		`{"indexingMode":"none","automatic":false}`:                                                                    0,
	} {
		name := fmt.Sprint("c", len(costs))
		a.must(201, a.send("POST", "dbs/blog/colls", fmt.Sprintf(`{"id":%q,"partitionKey":{"paths":["/postId"],"kind":"Hash","version":2},"indexingPolicy":%s}`, name, policy)))
		created := a.must(201, a.send("POST", "dbs/blog/colls/"+name+"/docs", leaves("x", 1, 10), "pk", "p"))
		costs[policy] = charge(t, created)
		is.near(policy, costs[policy], createCharge(len(created.text), indexed))
	}
}

// TestReadsAreChargedByBytesItemsAndRanges doubles the bytes, items and ranges, one at a time.
func TestReadsAreChargedByBytesItemsAndRanges(t *testing.T) {
	is := ledger{t}
	var across []float64
	for _, ranges := range []int{1, 2, 4} {
		a := newAccount(t, Options{})
		a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
		a.must(201, a.send("POST", "dbs/blog/colls", blogContainer, "x-ms-offer-throughput", fmt.Sprint(ranges*10_000)))
		for i := range 20 {
			a.create("p", leaves(fmt.Sprintf("i%02d", i), 1+i/10, 0)) // ten of 1 KB, ten of 2 KB
		}
		item := a.must(200, a.send("GET", docs+"/i00", "", "pk", "p"))
		large := a.must(200, a.send("GET", docs+"/i19", "", "pk", "p"))
		is.near("a read of 1 KB more", charge(t, large)-charge(t, item), readPerKB)
		query := func(low, high int) float64 {
			return charge(t, a.must(200, a.query("p", fmt.Sprintf(`{"query":"SELECT * FROM c WHERE c.id IN (%s)"}`, names(low, high)))))
		}
		perItem := queryPerItem + queryPerKB*kilobytes(len(item.text))
		is.near("a query of ten items instead of five", query(0, 10)-query(0, 5), 5*perItem)
		is.near("a query of items of twice the bytes", query(10, 20)-query(0, 10), 10*queryPerKB)
		is.near("a query without results", charge(t, a.must(200, a.query("q", `{"query":"SELECT * FROM c"}`))), queryBase)
		feed := func(size string) float64 {
			return charge(t, a.must(200, a.send("GET", docs, "", "A-IM", "Incremental Feed", "x-ms-max-item-count", size, "pk", "p")))
		}
		is.near("a page of ten changes instead of five", feed("10")-feed("5"), 5*perItem+5*queryPerKB*kilobytes(len(`,"_lsn":10`)))
		count := func() float64 {
			return charge(t, a.must(200, a.query("p", `{"query":"SELECT VALUE COUNT(1) FROM c"}`)))
		}
		of20 := count()
		for i := 20; i < 40; i++ {
			a.create("p", leaves(fmt.Sprintf("i%02d", i), 1, 0))
		}
		is.near("a count of 40 items instead of 20", count()-of20, 20*queryPerCount)
		across = append(across, charge(t, a.must(200, a.query("", `{"query":"SELECT VALUE c.id FROM c"}`))))
	}
	is.near("a query across two ranges", across[1]-across[0], queryBase)
	is.near("a query across four ranges", across[2]-across[1], 2*queryBase)
}

// The service has every order in its index, and so loads only the items that it returns.
func TestOrdersAreChargedByReturnedItems(t *testing.T) {
	a, is := newBlog(t, Options{}), ledger{t}
	for i := range 20 {
		a.create("p", fmt.Sprintf(`{"id":"%02d","postId":"p","n":%d}`, i, 10+(i*7)%20))
	}
	query := func(text string) float64 {
		return charge(t, a.must(200, a.query("p", fmt.Sprintf(`{"query":%q}`, text))))
	}
	all := query("SELECT * FROM c")
	is.near("all items in an order", query("SELECT * FROM c ORDER BY c.n"), all)
	is.near("the first five in an order", query("SELECT TOP 5 * FROM c ORDER BY c.n"), queryBase+(all-queryBase)/4)
	is.near("the first five in no order", query("SELECT TOP 5 * FROM c"), queryBase+(all-queryBase)/4)
	is.near("five after ten others", query("SELECT * FROM c ORDER BY c.n OFFSET 10 LIMIT 5"), queryBase+(all-queryBase)*3/4)
	is.near("five after a position", query("SELECT TOP 5 * FROM c WHERE c.n > 20 ORDER BY c.n"), queryBase+(all-queryBase)/4)
	is.near("five after a position, with another filter", query("SELECT TOP 5 * FROM c WHERE c.postId = 'p' AND c.n > 20 ORDER BY c.n"), all)
	is.near("an aggregate, in an order that has no effect", query("SELECT VALUE SUM(c.n) FROM c ORDER BY c.n"), query("SELECT VALUE SUM(c.n) FROM c"))
	is.near("distinct values in an order", query("SELECT DISTINCT VALUE c.postId FROM c ORDER BY c.postId"), all)
	is.near("five after a position on another path", query("SELECT TOP 5 * FROM c WHERE c.id > '05' ORDER BY c.n"), all)
}

// TestRangesSeekByTheDocumentedRules reads pages at growing depths of a list. Microsoft's page on
// indexing policies says of filters with ORDER BY that the properties of equalities come first, and
// that "the property used in the range filter or system function should be defined last in the
// composite index" (learn.microsoft.com/azure/cosmos-db/index-policy). A range on another path, or
// an order that leaves out the equality, is charged for all items before the page.
func TestRangesSeekByTheDocumentedRules(t *testing.T) {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"posts","partitionKey":{"paths":["/postId"],"kind":"Hash","version":2},"indexingPolicy":{
		"compositeIndexes":[[{"path":"/type"},{"path":"/date","order":"descending"},{"path":"/id","order":"descending"}],
			[{"path":"/type"},{"path":"/key","order":"descending"}]]}}`))
	const items, size = 120, 10
	for i := range items {
		a.create("p", fmt.Sprintf(`{"id":"%03d","postId":"p","type":"like","date":"d%03d","key":"d%03d/%03d"}`, i, i/2, i/2, i))
	}
	// page returns the charge of the page that begins after so many items, and checks the items.
	page := func(query string, depth int) float64 {
		id := items - depth
		text := strings.NewReplacer("@n", strconv.Itoa(size), "@date", fmt.Sprintf("'d%03d'", id/2), "@id", fmt.Sprintf("'%03d'", id),
			"@key", fmt.Sprintf("'d%03d/%03d'", id/2, id)).Replace("SELECT TOP @n * FROM c WHERE c.type = 'like' AND " + query)
		got := a.must(200, a.query("p", fmt.Sprintf(`{"query":%q}`, text)))
		if ids := got.ids(); len(ids) != size || ids[0] != fmt.Sprintf("%03d", id-1) || ids[size-1] != fmt.Sprintf("%03d", id-size) {
			t.Errorf("%s: %v", text, ids)
		}
		loaded := "retrievedDocumentCount=" + strconv.Itoa(int(math.Round((charge(t, got)-queryBase)/(queryPerItem+queryPerKB*kilobytes(len(got.items()[0].String()))))))
		if metrics := got.header.Get("X-Ms-Documentdb-Query-Metrics"); !strings.Contains(metrics, loaded+";") {
			t.Errorf("%s: charged as %s, but %s", text, loaded, metrics)
		}
		return charge(t, got)
	}
	const byTwo = "c.date <= @date AND (c.date < @date OR c.id < @id) "
	for _, query := range []string{
		byTwo + "ORDER BY c.type, c.date DESC, c.id DESC",
		byTwo + "ORDER BY c.date DESC",
		"c.key < @key ORDER BY c.key DESC",
	} {
		if first, second, last := page(query, 10), page(query, 50), page(query, 100); second < 1.9*first || last < 1.5*second {
			t.Errorf("%s: %.2f, %.2f and %.2f RU, as if it sought", query, first, second, last)
		}
	}
	const byOne = "c.key < @key ORDER BY c.type, c.key DESC"
	if first, last := page(byOne, 10), page(byOne, 100); math.Abs(first-last) > 0.01 {
		t.Errorf("%s: %.2f and %.2f RU", byOne, first, last)
	}
}

func names(low, high int) string {
	var ids []string
	for i := low; i < high; i++ {
		ids = append(ids, fmt.Sprintf("'i%02d'", i))
	}
	return strings.Join(ids, ",")
}

// TestChargesGrowWithSize writes and reads growing items and compares their charges. The last
// items exceed the size of a page of the change feed.
func TestChargesGrowWithSize(t *testing.T) {
	a := newBlog(t, Options{})
	last := map[string]float64{}
	rises := func(what string, got answer) {
		t.Helper()
		if ru := charge(t, got); ru < last[what] {
			t.Errorf("%s: %.2f RU, but %.2f RU for less", what, ru, last[what])
		} else {
			last[what] = ru
		}
	}
	var sizes []int // in KB
	for i := range 24 {
		sizes = append(sizes, i*i/8)
	}
	for i, size := range append(sizes, 1500, 1600, 1700) {
		id := fmt.Sprintf("i%02d", i)
		rises("create", a.create("p", leaves(id, size, i)))
		rises("read", a.must(200, a.send("GET", docs+"/"+id, "", "pk", "p")))
		rises("replace", a.must(200, a.send("PUT", docs+"/"+id, leaves(id, size, 0), "pk", "p")))
		rises("query", a.must(200, a.query("p", `{"query":"SELECT VALUE c.id FROM c"}`)))
		rises("count", a.must(200, a.query("p", `{"query":"SELECT VALUE COUNT(1) FROM c"}`)))
		rises("change feed", a.must(200, a.changes("")))
	}
}

// TestTransactionsCostTheirOperations compares procedures, triggers and batches with the same
// operations executed one by one.
func TestTransactionsCostTheirOperations(t *testing.T) {
	a, is := newBlog(t, Options{}), ledger{t}
	item := func(id string) string { return leaves(id, 3, 7) }
	one := charge(t, a.create("p", item("x0")))
	read := charge(t, a.must(200, a.send("GET", docs+"/x0", "", "pk", "p")))
	patched := charge(t, a.must(200, a.send("PATCH", docs+"/x0", `{"operations":[{"op":"incr","path":"/n000","value":1}]}`, "pk", "p")))
	removed := charge(t, a.must(204, a.send("DELETE", docs+"/x0", "", "pk", "p")))

	batch := a.must(200, a.send("POST", docs, `[{"operationType":"Create","resourceBody":`+item("x1")+`},{"operationType":"Read","id":"x1"},
		{"operationType":"Patch","id":"x1","resourceBody":{"operations":[{"op":"incr","path":"/n000","value":1}]}},
		{"operationType":"Delete","id":"x1"}]`, "pk", "p", "x-ms-cosmos-is-batch-request", "True"))
	is.near("a batch", charge(t, batch), one+read+patched+removed)
	parts := 0.0
	results, _ := batch.body.AsArray()
	for _, result := range results {
		ru, _ := result.Get("requestCharge").AsNumber()
		parts += ru
	}
	is.near("the parts of a batch", parts, charge(t, batch))

	a.must(201, a.send("POST", posts+"/sprocs", `{"id":"both","body":"function both(a, b) { __.createDocument(__.getSelfLink(), a); __.createDocument(__.getSelfLink(), b) }"}`))
	is.near("a procedure of two creates", charge(t, a.must(200, a.send("POST", posts+"/sprocs/both", "["+item("x1")+","+item("x2")+"]", "pk", "p"))), 2*one+scriptBase)
	for _, kind := range []string{"Pre", "Post"} {
		a.must(201, a.send("POST", posts+"/triggers", fmt.Sprintf(`{"id":%q,"triggerType":%q,"triggerOperation":"All",
			"body":"function t() { __.readDocument(__.getAltLink() + '/docs/x1') }"}`, kind, kind)))
	}
	with := a.must(201, a.send("POST", docs, item("x3"), "pk", "p", "x-ms-documentdb-pre-trigger-include", "Pre", "x-ms-documentdb-post-trigger-include", "Post"))
	is.near("a create with two triggers that read", charge(t, with), one+2*(scriptBase+read))
}

// TestRejectedRequestsAreCharged checks the charge of requests that are rejected after a read,
// and of 304 responses.
func TestRejectedRequestsAreCharged(t *testing.T) {
	a := newBlog(t, Options{})
	etag := a.create("p", leaves("x", 1, 1)).header.Get("Etag")
	for what, got := range map[string]answer{
		"404 of a read":            a.must(404, a.send("GET", docs+"/none", "", "pk", "p")),
		"404 of a replace":         a.must(404, a.send("PUT", docs+"/none", leaves("none", 1, 1), "pk", "p")),
		"404 of a patch":           a.must(404, a.send("PATCH", docs+"/none", `{"operations":[{"op":"set","path":"/n","value":1}]}`, "pk", "p")),
		"404 of a delete":          a.must(404, a.send("DELETE", docs+"/none", "", "pk", "p")),
		"409":                      a.must(409, a.send("POST", docs, leaves("x", 1, 1), "pk", "p")),
		"412 of a replace":         a.must(412, a.send("PUT", docs+"/x", leaves("x", 1, 1), "pk", "p", "If-Match", `"old"`)),
		"412 of a delete":          a.must(412, a.send("DELETE", docs+"/x", "", "pk", "p", "If-Match", `"old"`)),
		"412 of a patch":           a.must(412, a.send("PATCH", docs+"/x", `{"operations":[{"op":"set","path":"/n","value":1}],"condition":"from c where c.n000 = 2"}`, "pk", "p")),
		"304 of a read":            a.must(304, a.send("GET", docs+"/x", "", "pk", "p", "If-None-Match", etag)),
		"304 of the change feed":   a.must(304, a.changes("99")),
		"207":                      a.must(207, a.send("POST", docs, `[{"operationType":"Delete","id":"none"}]`, "pk", "p", "x-ms-cosmos-is-batch-request", "True")),
		"400 of a query":           a.must(400, a.query("p", `{"query":"SELECT"}`)),
		"404 of a container":       a.must(404, a.send("GET", "dbs/blog/colls/none", "")),
		"410 of a range":           a.must(410, a.send("GET", docs, "", "A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "9")),
		"404 of a procedure":       a.must(404, a.send("POST", posts+"/sprocs/none", "[]", "pk", "p")),
		"404 of a session's token": a.must(404, a.send("GET", docs+"/x", "", "pk", "p", "x-ms-session-token", "0:-1#999999")),
	} {
		if ru := charge(t, got); ru < 1 || ru > 10 {
			t.Errorf("%s: %.2f RU", what, ru)
		}
	}
}

// TestArticleRatios compares the engine with the third model of Microsoft's article: the costs
// of a post's comments and likes, a user's posts and the feed, within 15 %.
func TestArticleRatios(t *testing.T) {
	for _, c := range []struct {
		name  string
		items int
		bytes int
		want  float64
	}{
		{"Q3", 28, 500, 6.46}, {"Q4", 20, 1200, 7.72}, {"Q5", 50, 420, 8.92}, {"Q6", 100, 500, 16.97},
	} {
		if got := queryCharge(1, c.items, c.items*c.bytes); math.Abs(got-c.want) > 0.15*c.want {
			t.Errorf("%s: %.2f RU, the article measured %.2f", c.name, got, c.want)
		}
	}
}

// TestIndexedFiltersLoadMatches compares queries in a partition with a large item, also in scripts.
// The service reads only indexed values, and loads only matching items, by equalities, IN and
// ranges (learn.microsoft.com/azure/cosmos-db/index-overview#index-usage).
func TestIndexedFiltersLoadMatches(t *testing.T) {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", strings.Replace(blogContainer, `"includedPaths":[{"path":"/*"},{"path":"/userId/?"}]`,
		`"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/secret/?"}]`, 1)))
	a.addScript("sprocs", "count", `function count(where) {
		const c = getContext().getCollection();
		c.queryDocuments(c.getSelfLink(), "SELECT * FROM c WHERE " + where, (err, items) => getContext().getResponse().setBody(items.length));
	}`)
	for i := range 20 {
		a.create("p", fmt.Sprintf(`{"id":"%02d","postId":"p","type":%q,"n":%d,"o":{"k":[1]},"secret":%d}`, i, []string{"comment", "like"}[i%2], i, i))
	}
	one := a.must(200, a.send("GET", docs+"/00", "", "pk", "p"))
	perItem := queryPerItem + queryPerKB*kilobytes(len(one.text))
	scriptOf := func(where string) float64 {
		got := a.must(200, a.send("POST", posts+"/sprocs/count", string(value.AppendString([]byte("["), where))+"]", "pk", "p"))
		return charge(t, got) - scriptBase
	}
	large := fmt.Sprintf(`{"id":"z","postId":"p","type":"content","n":-1,"text":%q,"secret":-1}`, strings.Repeat("x", 256<<10))
	for _, c := range []struct {
		where string
		items float64 // loaded; 20 and the large one if negative
	}{
		{"c.type = 'comment'", 10},
		{"c.type IN ('like', 'none')", 10},
		{"c.type < 'tombstone' AND c.type IN ('comment', 'like') AND c.n < 4", 4},
		{"c.n BETWEEN 3 AND 5", 3},
		{"5 <= c.n AND c.n != 6", 15}, // != is not counted on
		{"c.n = 1 OR c.n = 2 AND c.type = 'like'", 1},
		{"c.n = 1 AND STARTSWITH(c.type, 'l')", 1},
		{"IS_NULL(c.n)", 0},
		{"c.id = '03'", 1},
		{"c.id > '17' AND c.id < 'y'", 2}, // always in the index, as _ts is
		{"c._ts < 0", 0},
		{"STARTSWITH(c.type, 'l')", -1},
		{"c.secret = 3", -1},
		{"c.o = {\"k\":[1]}", -1},
		{"c.n NOT IN (1, 2)", -1},
		{"c.n = c.secret", -1},
		{"c.n = 1 OR c.n != 2", -1},
	} {
		a.send("DELETE", docs+"/z", "", "pk", "p") // if it is there
		for _, body := range []string{"", large} {
			want := c.items
			if want < 0 {
				want = 20
			}
			total := queryBase + want*perItem
			if body != "" {
				z := a.create("p", body)
				if c.items < 0 {
					total, want = total+queryPerItem+queryPerKB*kilobytes(len(z.text)), want+1
				}
			}
			got := a.must(200, a.query("p", fmt.Sprintf(`{"query":%q}`, "SELECT * FROM c WHERE "+c.where)))
			is := ledger{t}
			is.near(c.where, charge(t, got), total)
			is.near(c.where+" in a script", scriptOf(c.where), total)
			if n := retrieved(t, got); n != int(want) {
				t.Errorf("%s: the metrics say that %d items were loaded, want %v", c.where, n, want)
			}
		}
	}
}

// TestMembershipSeeks checks that an IN on a path of an index that a query uses reads none of the
// items between. It does not choose an index: most items of a partition may be in it.
func TestMembershipSeeks(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 30 {
		a.create("p", fmt.Sprintf(`{"id":"%02d","postId":"p","type":"t%d","creationDate":"d"}`, i, i%10))
		a.create("q", fmt.Sprintf(`{"id":"%02d","postId":"q","userId":"u%d"}`, i, i%10))
	}
	p := newPartition(value.String("p"))
	for text, want := range map[string]int{
		"c.type IN ('t3', 't7')":                              30,
		"c.type > '' AND c.type IN ('t3', 't7')":              6,
		"c.type IN ('t7', 't3', 't3') AND c.type < 't5'":      3,
		"c.type IN ('t3') AND c.creationDate = 'd'":           30,
		"c.type = 't3' AND c.creationDate IN ('c', 'd', 'e')": 3,
		"c.type = 't3' AND c.creationDate IN ('c', 'e')":      0,
		"c.type = 't3' AND c.creationDate IN ('c', {})":       3,
		"c.type > '' AND c.type IN ('t', 't30', '')":          0,
		"c.userId > '' AND c.userId IN ('u3', 'u2', 'none')":  6, // in all partitions
		"c.userId > '' AND c.userId NOT IN ('u3', 'u2')":      30,
	} {
		bound, _, err := a.parseQuery([]byte(fmt.Sprintf(`{"query":%q}`, "SELECT * FROM c WHERE "+text)))
		if err != nil {
			t.Fatal(err)
		}
		s := scope{partition: &p}
		if strings.Contains(text, "userId") {
			s = scope{}
		}
		c, err := a.container("blog", "posts")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := c.plan(bound, s)
		if err != nil {
			t.Fatal(err)
		}
		candidates, err := plan.open(a.db, nil)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for ; ; read++ {
			if item, err := candidates.next(); err != nil {
				t.Fatal(err)
			} else if item == nil {
				break
			}
		}
		if err := candidates.close(); err != nil || read != want {
			t.Errorf("%s reads %d items, want %d, %v", text, read, want, err)
		}
	}
}
