package query

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/engine/value"
)

// sameTree compares trees, ignoring positions in the text. (The time of go-cmp doubles with
// every nested slice.)
func sameTree(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() || a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return a.Kind() == reflect.Pointer && a.Equal(b) || sameTree(a.Elem(), b.Elem()) // NaN is one literal
	case reflect.Slice:
		same := a.Len() == b.Len()
		for i := 0; same && i < a.Len(); i++ {
			same = sameTree(a.Index(i), b.Index(i))
		}
		return same
	case reflect.Struct:
		same := true
		for i := 0; same && i < a.NumField(); i++ {
			same = a.Field(i).Type() == reflect.TypeFor[position]() || sameTree(a.Field(i), b.Field(i))
		}
		return same
	}
	return a.Equal(b)
}

func mustParse(t testing.TB, text string) *Query {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

func mustBind(t testing.TB, text string, p Parameters) *Bound {
	t.Helper()
	b, err := mustParse(t, text).Bind(p)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

func mustJSON(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// sourceOf returns a source of items that ends with err, which may be nil.
func sourceOf(t testing.TB, err error, items ...string) Source {
	list := make([]Document, len(items))
	for i, text := range items {
		list[i] = Document{Text: []byte(text), Root: mustJSON(t, text)}
	}
	return sourceOfDocuments(err, list...)
}

// sourceOfDocuments returns a source of documents that ends with err.
func sourceOfDocuments(err error, documents ...Document) Source {
	return func() (Document, bool, error) {
		if len(documents) == 0 {
			return Document{}, false, err
		}
		first := documents[0]
		documents = documents[1:]
		return first, true, nil
	}
}

// all returns all remaining rows.
func all(t testing.TB, rows *Rows) []string {
	t.Helper()
	results := []string{}
	for {
		row, ok, err := rows.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return results
		}
		results = append(results, string(row))
	}
}

// query runs a query over unsorted items and returns its rows.
func query(t testing.TB, text string, p Parameters, items ...string) []string {
	t.Helper()
	return all(t, mustBind(t, text, p).Run(sourceOf(t, nil, items...), false, Progress{}))
}

func checkRows(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func syntaxErrorOf(t testing.TB, err error) *SyntaxError {
	t.Helper()
	var fault *SyntaxError
	if !errors.As(err, &fault) {
		t.Fatalf("got the error %v, want a *SyntaxError", err)
	}
	return fault
}
