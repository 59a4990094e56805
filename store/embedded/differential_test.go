package embedded

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/store/embedded/value"
)

// The same items lie in two containers, one with indexes and one without: every query must give the same of both, in the
// order that it asks for, in pages of any size.
const (
	withIndexes    = `{"id":"i","partitionKey":{"paths":["/pk"],"version":2},"indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"},{"path":"/c"}]]}}`
	withoutIndexes = `{"id":"n","partitionKey":{"paths":["/pk"],"version":2}}`
)

// scalars are of every type, and near each other; the empty text is no property at all.
var scalars = []string{"null", "true", "false", "-1", "0", "1", "1.5", "10", `""`, `"a"`, `"a\u0000"`, `"a\u0000b"`, `"ab"`, `"b"`, `"\u00ff"`, ""}

type differential struct {
	*account
	random *rand.Rand
	items  map[string]value.Value
}

func TestQueriesAreTheSameWithIndexes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	d := &differential{newAccount(t, Options{}), rand.New(rand.NewPCG(seed, 1)), map[string]value.Value{}}
	d.must(201, d.send("POST", "dbs", `{"id":"d"}`))
	d.must(201, d.send("POST", "dbs/d/colls", withIndexes))
	d.must(201, d.send("POST", "dbs/d/colls", withoutIndexes))
	for i := range 200 {
		d.createItem(i)
	}
	for range 300 {
		d.compare(t)
	}
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

func (d *differential) createItem(i int) {
	id, pk := fmt.Sprintf("i%03d", i), fmt.Sprintf("p%d", i%2)
	text := fmt.Sprintf(`{"id":%q,"pk":%q`, id, pk)
	for _, name := range []string{"a", "b", "c"} {
		if v := pick(d.random, scalars); v != "" {
			text += fmt.Sprintf(`,%q:%s`, name, v)
		}
	}
	text += "}"
	d.items[id], _ = value.Parse([]byte(text))
	for _, container := range []string{"i", "n"} {
		d.must(201, d.send("POST", "dbs/d/colls/"+container+"/docs", text, "pk", pk))
	}
}

// ids runs a query to its end.
func (d *differential) ids(container, pk, text string, size int) []string {
	ids := []string{}
	body := value.Object([]string{"query"}, []value.Value{value.String(text)}).String()
	headers := []string{"x-ms-documentdb-query", "True", "x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-max-item-count", fmt.Sprint(size)}
	if pk != "" {
		headers = append(headers, "pk", pk)
	}
	for token := ""; ; {
		got := d.must(200, d.send("POST", "dbs/d/colls/"+container+"/docs", body, append(headers, "x-ms-continuation", token)...))
		ids = append(ids, got.ids()...)
		if token = got.header.Get("X-Ms-Continuation"); token == "" {
			return ids
		}
	}
}

func (d *differential) where() string {
	var conditions []string
	for _, name := range []string{"a", "b", "c"} {
		for range d.random.IntN(3) {
			operator := pick(d.random, []string{"=", "<", "<=", ">", ">="})
			conditions = append(conditions, fmt.Sprintf("c.%s %s %s", name, operator, pick(d.random, scalars[:len(scalars)-1])))
		}
	}
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

func (d *differential) compare(t *testing.T) {
	t.Helper()
	where, pk, size := d.where(), pick(d.random, []string{"p0", "p1", ""}), 1+d.random.IntN(20)
	want := d.ids("n", pk, "SELECT * FROM c"+where, 1000)
	slices.Sort(want)
	if got := d.ids("i", pk, "SELECT * FROM c"+where, size); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Fatalf("%s%s: with indexes %v, without %v", pk, where, got, want)
	}
	if pk == "" {
		return
	}
	reversed := d.random.IntN(2) == 0
	order := " ORDER BY c.a, c.b DESC, c.c"
	if reversed {
		order = " ORDER BY c.a DESC, c.b ASC, c.c DESC"
	}
	sorted := d.ids("i", pk, "SELECT * FROM c"+where+order, size)
	if !slices.Equal(slices.Sorted(slices.Values(sorted)), want) || !slices.IsSortedFunc(sorted, d.by(reversed)) {
		t.Fatalf("%s%s%s: %v, want %v in order", pk, where, order, sorted, want)
	}
	limit := d.random.IntN(10)
	window := sorted[min(2, len(sorted)):min(2+limit, len(sorted))]
	if got := d.ids("i", pk, fmt.Sprintf("SELECT * FROM c%s%s OFFSET 2 LIMIT %d", where, order, limit), size); !slices.Equal(got, window) {
		t.Fatalf("%s%s%s OFFSET 2 LIMIT %d: %v, want %v", pk, where, order, limit, got, window)
	}
}

// by compares two ids by a, b descending and c, or by the reverse of it.
func (d *differential) by(reversed bool) func(x, y string) int {
	return func(x, y string) int {
		for _, name := range []string{"a", "b", "c"} {
			c := value.Compare(d.items[x].Get(name), d.items[y].Get(name))
			if (name == "b") != reversed {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}
