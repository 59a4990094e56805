package query

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cosmosblog/engine/value"
	"cosmosblog/proof/testseed"
)

// TestPartlyParsedItemsGiveSameRows runs random queries over random items, once with whole items
// and once with the parts that Bound.Parse returns. Rows and errors must be equal.
func TestPartlyParsedItemsGiveSameRows(t *testing.T) {
	rows, partial := 0, 0
	whole := func(text []byte, _ bool) (value.Value, error) { return value.Parse(text) }
	testseed.Check(t, func(t *rapid.T) {
		d := generator{t}
		q := &Query{tree: d.tree()}
		if d.number(0, 3) == 0 {
			q.tree.star, q.tree.value, q.tree.distinct, q.tree.aggregates = false, false, false, 1
			q.tree.selections = []selection{{expression: &aggregate{name: d.pick("COUNT", "MAX", "SUM"), argument: d.expression(2)}}}
		}
		if d.bool() {
			q.tree.where = d.predicate(1)
		}
		bound, err := q.Bind(Parameters{"@p": d.constant(), "@q": d.constant(), "@n": value.Number(float64(d.number(0, 9)))})
		if err != nil {
			return // the constants take too much memory
		}
		var texts [][]byte
		for range 10 {
			item := d.item().With("id", value.String(d.pick("a", "b", "\"é\\"))).With("é x", d.constant())
			texts = append(texts, value.Append(nil, item))
		}
		sorted := d.bool()
		want, wantErr := rowsOf(bound, texts, sorted, whole)
		got, gotErr := rowsOf(bound, texts, sorted, bound.Parse)
		if !slices.Equal(got, want) || gotErr != wantErr {
			t.Fatalf("%s\nreturns %q, %v of whole items and %q, %v of their parts", q, want, wantErr, got, gotErr)
		}
		if rows += len(want); len(want) > 0 && !bound.readsItem {
			partial++
		}
	})
	if rows == 0 || partial == 0 {
		t.Errorf("nothing was tested: %d rows, %d queries of parts", rows, partial)
	}
}

// rowsOf returns all rows of a query.
func rowsOf(b *Bound, texts [][]byte, sorted bool, parse func([]byte, bool) (value.Value, error)) (rows []string, err error) {
	source := func() (Document, bool, error) {
		if len(texts) == 0 {
			return Document{}, false, nil
		}
		text := texts[0]
		texts = texts[1:]
		root, err := parse(text, sorted)
		return Document{Text: text, Root: root}, err == nil, err
	}
	for all := b.Run(source, sorted, Progress{}); ; {
		row, ok, err := all.Next()
		if !ok {
			return rows, err
		}
		rows = append(rows, string(row))
	}
}

// TestQueriesReadFewProperties checks which parts of an item a query parses.
func TestQueriesReadFewProperties(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM c":                                       `{}`,
		"SELECT VALUE c FROM c WHERE c.n > 1":                   `{"n":2}`,
		"SELECT * FROM c WHERE c.o.x = 1 ORDER BY c.n":          `{"o":{"x":1},"n":2,"id":"a"}`,
		"SELECT c.o FROM c":                                     `{"o":{"x":1}}`,
		"SELECT COUNT(1) AS n FROM c WHERE c[@name] = 1":        `{"id":"a","n":2,"o":{"x":1}}`,
		"SELECT VALUE {all: c} FROM c":                          `{"id":"a","n":2,"o":{"x":1}}`,
		"SELECT DISTINCT * FROM c":                              `{"id":"a","n":2,"o":{"x":1}}`,
		"SELECT VALUE SUM(c.n) FROM c WHERE IS_DEFINED(c['o'])": `{"o":{"x":1},"n":2}`,
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := q.Bind(Parameters{"@name": value.String("n")})
		if err != nil {
			t.Fatal(err)
		}
		root, err := bound.Parse([]byte(`{"id":"a","n":2,"o":{"x":1}}`), false)
		if err != nil || root.String() != want {
			t.Errorf("%s parses %v, %v, want %s", text, root, err, want)
		}
	}
	q, err := Parse("SELECT * FROM c WHERE c.o.x = 1 ORDER BY c.n")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := q.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	if root, err := bound.Parse([]byte(`{"id":"a","n":2,"o":{"x":1}}`), true); err != nil || root.String() != `{"o":{"x":1}}` {
		t.Errorf("of sorted items, it parses %v, %v", root, err)
	}
}
