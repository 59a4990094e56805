package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cosmosblog/engine/value"
	"cosmosblog/proof/testseed"
)

// The same items are in two containers, with and without indexes, and in a plain map. Every
// query must return the same rows from both containers as a loop over the map, in the requested
// order, for any page size.
const (
	withIndexes    = `{"id":"i","partitionKey":{"paths":["/pk"],"version":2},"indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/a/?"},{"path":"/o/x/?"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"},{"path":"/c"}]]}}`
	withoutIndexes = `{"id":"n","partitionKey":{"paths":["/pk"],"version":2}}`
)

// scalars contain values of every type with similar ones among them. The empty text stands for a
// missing property.
var scalars = []string{"null", "true", "false", "-1", "0", "1", "1.5", "10", "1e18", "1000000000000000001", "1000000000000000100",
	"999999999999999999", "-999999999999999999", "-1000000000000000001", "-1000000000000000000", `""`, `"a"`, `"a\u0000"`, `"a\u0000b"`, `"ab"`, `"b"`, `"\u00ff"`, ""}

// nested are arrays and objects.
var nested = []string{`[]`, `[1]`, `[1,"a"]`, `{}`, `{"x":1}`, `{"x":1,"y":[null]}`}

// differentialPaths are the paths used in conditions and orders.
var differentialPaths = []string{"a", "b", "c", "o.x"}

var randomQueries = flag.Int("random-queries", 20, "number of random queries of each kind in TestQueriesReturnSameResultsWithIndexes")

type differential struct {
	*account
	random *rand.Rand
	items  map[string]value.Value
}

func newDifferential(t *testing.T) *differential {
	seed := testseed.Of(t)
	d := &differential{newAccount(t, Options{}), rand.New(rand.NewPCG(seed, 1)), map[string]value.Value{}}
	d.must(201, d.send("POST", "dbs", `{"id":"d"}`))
	d.must(201, d.send("POST", "dbs/d/colls", withIndexes, "x-ms-offer-throughput", "20000"))
	d.must(201, d.send("POST", "dbs/d/colls", withoutIndexes))
	return d
}

func TestQueriesReturnSameResultsWithIndexes(t *testing.T) {
	d := newDifferential(t)
	for i := range 200 {
		d.createItem(i)
	}
	for range *randomQueries {
		d.compareAll(t)
		d.compareSorted(t)
		d.compareDistinct(t)
		d.compareAggregates(t)
	}
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

// randomValue returns a scalar or, less often, a nested value.
func (d *differential) randomValue() string {
	if d.random.IntN(8) == 0 {
		return pick(d.random, nested)
	}
	return pick(d.random, scalars)
}

// item returns an item with random properties.
func (d *differential) item(id, pk string) string {
	text := fmt.Sprintf(`{"id":%q,"pk":%q`, id, pk)
	for _, name := range []string{"a", "b", "c"} {
		if v := d.randomValue(); v != "" {
			text += fmt.Sprintf(`,%q:%s`, name, v)
		}
	}
	if v := d.randomValue(); v != "" {
		text += fmt.Sprintf(`,"o":{"x":%s}`, v)
	}
	return text + "}"
}

func (d *differential) createItem(i int) {
	id, pk := fmt.Sprintf("i%03d", i), fmt.Sprintf("p%d", i%2)
	text := d.item(id, pk)
	d.items[id], _ = value.Parse([]byte(text))
	for _, container := range []string{"i", "n"} {
		d.must(201, d.send("POST", "dbs/d/colls/"+container+"/docs", text, "pk", pk))
	}
}

// rows reads all pages of a query. Between two pages it calls between, unless that is nil.
func (d *differential) rows(container, pk, text string, size int, between func()) []value.Value {
	rows := []value.Value{}
	headers := []string{"x-ms-documentdb-query", "True", "x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-max-item-count", fmt.Sprint(size)}
	if pk != "" {
		headers = append(headers, "pk", pk)
	}
	for token := ""; ; {
		got := d.must(200, d.send("POST", "dbs/d/colls/"+container+"/docs", queryBody(text), append(headers, "x-ms-continuation", token)...))
		if len(got.items()) > size {
			d.t.Fatalf("%s: a page of %d has %d rows", text, size, len(got.items()))
		}
		rows = append(rows, got.items()...)
		if token = got.header.Get("X-Ms-Continuation"); token == "" {
			return rows
		}
		if between != nil {
			between()
		}
	}
}

// matching returns the items of a partition, or of all partitions, that meet a condition, in id
// order.
func (d *differential) matching(pk string, c condition) (kept []value.Value) {
	for _, item := range d.items {
		of, _ := item.Get("pk").AsString()
		if (pk == "" || pk == of) && c.of(item) == yes {
			kept = append(kept, item)
		}
	}
	slices.SortFunc(kept, func(x, y value.Value) int { return value.Compare(x.Get("id"), y.Get("id")) })
	return kept
}

func idsOfItems(items []value.Value) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i], _ = item.Get("id").AsString()
	}
	return ids
}

// compareAll compares queries without ORDER BY.
func (d *differential) compareAll(t *testing.T) {
	t.Helper()
	c, pk := d.condition(2), pick(d.random, []string{"p0", "p1", ""})
	text, want := "SELECT * FROM c WHERE "+c.text, idsOfItems(d.matching(pk, c))
	for _, container := range []string{"i", "n"} {
		got := idsOfItems(d.rows(container, pk, text, 1+d.random.IntN(60), nil))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%s in %s of %q: %v, want %v", text, container, pk, got, want)
		}
	}
	if pk == "" {
		return
	}
	window := fmt.Sprintf("SELECT * FROM c WHERE %s OFFSET %d LIMIT %d", c.text, d.random.IntN(5), d.random.IntN(20))
	all := idsOfItems(d.rows("i", pk, window, 1000, nil))
	if got := idsOfItems(d.rows("i", pk, window, 1+d.random.IntN(7), nil)); !slices.Equal(got, all) {
		t.Fatalf("%s: %v in pages, %v in one page", window, got, all)
	}
}

// orders have several properties, in the index's order or completely reversed, or one property
// with or without an index. For one property, the index provides the order only of its first
// path, if the condition permits.
var orders = []string{"a, b DESC, c", "a DESC, b, c DESC", "a", "a DESC", "b", "b DESC", "o.x", "id", "id DESC"}

// compareSorted compares queries with ORDER BY, and windows of their results.
func (d *differential) compareSorted(t *testing.T) {
	t.Helper()
	c, pk, order := d.condition(1), pick(d.random, []string{"p0", "p1"}), pick(d.random, orders)
	paths := strings.Split(order, ", ")
	text := "* FROM c WHERE " + c.text + " ORDER BY c." + strings.Join(paths, ", c.")
	want := d.matching(pk, c)
	slices.SortStableFunc(want, func(x, y value.Value) int { return byPaths(x, y, paths) })
	offset, limit := d.random.IntN(5), d.random.IntN(12)
	switch d.random.IntN(3) {
	case 0:
		text += fmt.Sprintf(" OFFSET %d LIMIT %d", offset, limit)
		want = want[min(offset, len(want)):min(offset+limit, len(want))]
	case 1:
		text = fmt.Sprintf("TOP %d %s", limit, text)
		want = want[:min(limit, len(want))]
	}
	text = "SELECT " + text
	for _, container := range []string{"i", "n"} {
		if container == "n" && len(paths) > 1 {
			d.must(400, d.send("POST", "dbs/d/colls/n/docs", queryBody(text), "pk", pk, "x-ms-documentdb-query", "True"))
			continue
		}
		got := d.rows(container, pk, text, 1+d.random.IntN(30), nil)
		same := slices.EqualFunc(got, want, func(x, y value.Value) bool { return byPaths(x, y, paths) == 0 })
		if ids := idsOfItems(got); !same || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(got) {
			t.Fatalf("%s in %s of %s: %v, want the order of %v", text, container, pk, ids, idsOfItems(want))
		}
	}
}

// byPaths compares two items like ORDER BY. Arrays and objects are ordered by their text.
func byPaths(x, y value.Value, paths []string) int {
	for _, path := range paths {
		name, descending := strings.CutSuffix(path, " DESC")
		v, w := x.Path(strings.Split(name, ".")...), y.Path(strings.Split(name, ".")...)
		c := value.Compare(v, w)
		if v.Kind() == w.Kind() && v.Kind() >= value.KindArray {
			c = strings.Compare(v.String(), w.String())
		}
		if descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// compareDistinct compares the distinct values of a property.
func (d *differential) compareDistinct(t *testing.T) {
	t.Helper()
	c, pk, path := d.condition(1), pick(d.random, []string{"p0", "p1"}), pick(d.random, differentialPaths)
	text := "SELECT DISTINCT VALUE c." + path + " FROM c WHERE " + c.text
	var want []value.Value
	for _, item := range d.matching(pk, c) {
		v := item.Path(strings.Split(path, ".")...)
		if !v.IsUndefined() && !slices.ContainsFunc(want, func(w value.Value) bool { return value.Equal(v, w) }) {
			want = append(want, v)
		}
	}
	slices.SortFunc(want, value.Compare)
	for _, container := range []string{"i", "n"} {
		got := d.rows(container, pk, text, 1+d.random.IntN(10), nil)
		if slices.SortFunc(got, value.Compare); !slices.EqualFunc(got, want, value.Equal) {
			t.Fatalf("%s in %s of %s: %v, want %v", text, container, pk, got, want)
		}
	}
}

// compareAggregates compares aggregates of a property with values of any type.
func (d *differential) compareAggregates(t *testing.T) {
	t.Helper()
	c, pk, path := d.condition(1), pick(d.random, []string{"p0", "p1"}), pick(d.random, differentialPaths)
	if d.random.IntN(2) == 0 {
		c = d.both(c, condition{"IS_NUMBER(c." + path + ")", func(item value.Value) truth {
			return truthOf(item.Path(strings.Split(path, ".")...).Kind() == value.KindNumber)
		}})
	}
	text := fmt.Sprintf("SELECT COUNT(1) AS n, COUNT(c.%[1]s) AS defined, SUM(c.%[1]s) AS s, AVG(c.%[1]s) AS average, MIN(c.%[1]s) AS least, MAX(c.%[1]s) AS most FROM c WHERE %[2]s", path, c.text)
	want := totalsOf(d.matching(pk, c), path)
	for _, container := range []string{"i", "n"} {
		got := d.rows(container, pk, text, 1, nil)
		if len(got) != 1 || !value.Equal(withoutSums(got[0]), withoutSums(want)) {
			t.Fatalf("%s in %s of %s: %v, want %v", text, container, pk, got, want)
		}
	}
}

// withoutSums drops the sums of integers beyond 2^53, which depend on the order of additions.
func withoutSums(totals value.Value) value.Value {
	most, _ := totals.Get("most").AsNumber()
	least, _ := totals.Get("least").AsNumber()
	if max(most, -least) < 1<<53 {
		return totals
	}
	return totals.With("s", value.Undefined).With("average", value.Undefined)
}

// totalsOf computes the aggregates of a property by their documented rules.
func totalsOf(items []value.Value, path string) value.Value {
	var values []value.Value
	sum, numbers, scalar := 0.0, true, true
	for _, item := range items {
		v := item.Path(strings.Split(path, ".")...)
		if v.IsUndefined() {
			continue
		}
		n, ok := v.AsNumber()
		values, sum, numbers, scalar = append(values, v), sum+n, numbers && ok, scalar && v.Kind() < value.KindArray
	}
	totals := value.Object(nil, nil).With("n", value.Number(float64(len(items)))).With("defined", value.Number(float64(len(values))))
	if numbers {
		totals = totals.With("s", value.Number(sum))
	}
	if numbers && len(values) > 0 {
		totals = totals.With("average", value.Number(sum/float64(len(values))))
	}
	if scalar && len(values) > 0 {
		totals = totals.With("least", slices.MinFunc(values, value.Compare)).With("most", slices.MaxFunc(values, value.Compare))
	}
	return totals
}

// TestPagesUnderWrites writes items between the pages of queries. Items that are not written
// must be returned exactly once, wherever the written items move.
func TestPagesUnderWrites(t *testing.T) {
	d := newDifferential(t)
	for i := range 120 {
		d.createItem(i)
	}
	still := func(item value.Value) bool { id, _ := item.Get("id").AsString(); return id < "i060" }
	write := func() {
		for range 1 + d.random.IntN(4) {
			i := 60 + d.random.IntN(90)
			id, pk := fmt.Sprintf("i%03d", i), fmt.Sprintf("p%d", i%2)
			path := "dbs/d/colls/i/docs"
			if d.random.IntN(3) == 0 {
				d.send("DELETE", path+"/"+id, "", "pk", pk) // 204 or 404
				continue
			}
			if got := d.send("POST", path, d.item(id, pk), "pk", pk, "x-ms-documentdb-is-upsert", "True"); got.status/100 != 2 {
				t.Fatal(got.text)
			}
		}
	}
	for range 60 {
		c, pk, text := d.condition(1), pick(d.random, []string{"p0", "p1", ""}), ""
		if pk != "" && d.random.IntN(4) > 0 {
			text = " ORDER BY c." + strings.ReplaceAll(pick(d.random, orders), ", ", ", c.")
		}
		text = "SELECT * FROM c WHERE " + c.text + text
		want := slices.DeleteFunc(d.matching(pk, c), func(item value.Value) bool { return !still(item) })
		got := slices.DeleteFunc(d.rows("i", pk, text, 1+d.random.IntN(12), write), func(item value.Value) bool { return !still(item) })
		ids := idsOfItems(got)
		if slices.Sort(ids); !slices.Equal(ids, idsOfItems(want)) {
			t.Fatalf("%s of %q returns %v of the unwritten items, want %v", text, pk, ids, idsOfItems(want))
		}
	}
}
