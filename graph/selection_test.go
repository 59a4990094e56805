package graph

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// gqlgen collects a field twice if fragments on two interfaces select it. It resolves both, and
// writes the first.
func TestFieldsCollectedTwice(t *testing.T) {
	collected := func(name, alias string) graphql.CollectedField {
		return graphql.CollectedField{Field: &ast.Field{Name: name, Alias: alias}}
	}
	plain := func(field graphql.CollectedField) (*selection, bool) {
		if field.Name == "author" {
			return &selection{fields: []selectedField{{plain: "id"}}}, true
		}
		return nil, field.Name != "content"
	}
	title, id := collected("title", "title"), collected("id", "id")
	for name, test := range map[string]struct {
		fields []graphql.CollectedField
		want   int // fields of the selection; 0 if gqlgen resolves all
	}{
		"scalar":             {[]graphql.CollectedField{title, id, title}, 2},
		"object":             {[]graphql.CollectedField{title, collected("author", "author"), collected("author", "author")}, 0},
		"resolved":           {[]graphql.CollectedField{title, collected("content", "content"), collected("content", "content")}, 0},
		"different fields":   {[]graphql.CollectedField{title, id, collected("excerpt", "id")}, 0},
		"no plain field":     {[]graphql.CollectedField{collected("content", "content")}, 0},
		"different aliases":  {[]graphql.CollectedField{title, collected("title", "other")}, 2},
		"plain and resolved": {[]graphql.CollectedField{title, collected("content", "content")}, 2},
	} {
		if got := len(newSelection(test.fields, plain).fields); got != test.want {
			t.Errorf("%s: %d fields, want %d", name, got, test.want)
		}
	}
}

// TestKnownSelections checks that a selection is computed once, that sets with the same first
// selection and length are distinguished, and that a selection beyond the room is not kept.
func TestKnownSelections(t *testing.T) {
	field := func(name string) *ast.Field { return &ast.Field{Name: name, Alias: name} }
	id, title, excerpt := field("id"), field("title"), field("excerpt")
	plain := func(graphql.CollectedField) (*selection, bool) { return nil, true }
	operation := &graphql.OperationContext{}
	s := NewSelections(3)
	of := func(set ...ast.Selection) *selection { return s.of(operation, set, []string{"Post"}, plain) }
	first := of(id, title)
	if of(id, title) != first {
		t.Error("the selection was computed twice")
	}
	if other := of(id, excerpt); other.fields[1].alias != "excerpt" || of(id, title) != first {
		t.Errorf("another set has the fields %v", other.fields)
	}
	if of(excerpt, id) == of(excerpt, id) {
		t.Error("a selection beyond the room was kept")
	}
	if of(excerpt) != of(excerpt) {
		t.Error("a selection within the room was not kept")
	}
}

// TestSelectionBytes measures the memory of selections of different lengths, with fields that
// gqlgen resolves.
func TestSelectionBytes(t *testing.T) {
	oddPlain := func(f graphql.CollectedField) (*selection, bool) { return nil, f.Name == "f0" }
	for _, length := range []int{1, 2, 10, 100} {
		const room = 20_000
		var sets []ast.SelectionSet
		for range room / length {
			var set ast.SelectionSet
			for i := range length {
				set = append(set, &ast.Field{Name: fmt.Sprint("f", i), Alias: fmt.Sprint("f", i)})
			}
			sets = append(sets, set)
		}
		before := heapBytes()
		s := NewSelections(room)
		for _, set := range sets {
			operation := &graphql.OperationContext{}
			s.of(operation, slices.Clone(set), []string{"Post"}, oddPlain)
		}
		taken := heapBytes() - before
		t.Logf("selections of %d fields: %d bytes for each field", length, taken/room)
		if len(s.known) != len(sets) || taken > room*SelectionBytes {
			t.Errorf("%d of %d selections take %d bytes, want at most %d", len(s.known), len(sets), taken, room*SelectionBytes)
		}
		runtime.KeepAlive(sets)
	}
}

func heapBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first may only finish a cycle that has begun
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
