package documents

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/validator"

	"cosmosblog/guard/limits"
	"cosmosblog/guard/price"
)

// documentShapes are queries that take much memory for their tokens. Each has a number to make it
// unique.
var documentShapes = map[string]func(n int) string{
	"short":  func(n int) string { return fmt.Sprintf("query Q%d{__typename}", n) },
	"fields": func(n int) string { return fmt.Sprintf("query Q%d{viewer{%s}}", n, strings.Repeat("id ", 240)) },
	"deep":   func(n int) string { return fmt.Sprintf("query Q%d{%s}", n, strings.Repeat("viewer{id}", 95)) },
	"arguments": func(n int) string {
		return fmt.Sprintf("query Q%d{%s}", n, strings.Repeat(`feed(first:1){nodes{id}}`, 28))
	},
	"values": func(n int) string {
		return fmt.Sprintf("query Q%d{nodes(ids:[%s]){id}}", n, strings.Repeat(`"",`, 380))
	},
	"variables": func(n int) string {
		var declared, used strings.Builder
		for i := range 50 {
			fmt.Fprintf(&declared, "$v%d:ID!", i)
			fmt.Fprintf(&used, "$v%d ", i)
		}
		return fmt.Sprintf("query Q%d(%s){nodes(ids:[%s]){id}}", n, declared.String(), used.String())
	},
	"directives": func(n int) string {
		return fmt.Sprintf("query Q%d{viewer{%s}}", n, strings.Repeat("id @skip(if:false) ", 48))
	},
	"inline fragments": func(n int) string {
		return fmt.Sprintf("query Q%d{viewer{%s id %s}}", n, strings.Repeat("...on User{", 70), strings.Repeat("}", 70))
	},
	"fragments": func(n int) string {
		text := fmt.Sprintf("query Q%d{viewer{...F0}}", n)
		for i := range 40 {
			text += fmt.Sprintf(" fragment F%d on User{...F%d}", i, i+1)
		}
		return text + " fragment F40 on User{id}"
	},
	"a large price": func(n int) string { // fragments multiply
		text := fmt.Sprintf("query Q%d{viewer{...F0}}", n)
		for i := range 3 {
			text += fmt.Sprintf(" fragment F%d on User{%s}", i, strings.Repeat(fmt.Sprintf("posts(first:1){nodes{author{...F%d}}}", i+1), 1)+
				fmt.Sprintf("a:posts(first:1){nodes{author{...F%d}}} b:posts(first:1){nodes{author{...F%d}}} c:posts(first:1){nodes{author{...F%d}}}", i+1, i+1, i+1))
		}
		return text + " fragment F3 on User{id postCount}"
	},
	"a long string": func(n int) string {
		return fmt.Sprintf(`query Q%d{userByUsername(username:"%s"){id}}`, n, strings.Repeat("y", 15<<10))
	},
}

func heapBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first may only finish a cycle that has begun
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestKnownDocumentsAreCharged compares the charges of documents with the memory that they take.
func TestKnownDocumentsAreCharged(t *testing.T) {
	for name, shape := range documentShapes {
		d := New(limits.Default(), true)
		const count = 30
		before := heapBytes()
		for n := range count {
			if _, errs := d.Read(shape(n), fmt.Sprint("Q", n)); errs != nil {
				t.Fatalf("%s: %v", name, errs)
			}
		}
		taken := heapBytes() - before
		if len(d.known.byKey) != count {
			t.Fatalf("%s: %d of %d documents are cached", name, len(d.known.byKey), count)
		}
		t.Logf("%s: %d bytes are charged, %d are taken", name, d.known.bytes/count, taken/count)
		// The room for selections is charged before it is used.
		if taken > d.known.bytes || d.known.bytes > 16*taken {
			t.Errorf("%s: %d bytes are charged, %d are taken", name, d.known.bytes, taken)
		}
		runtime.KeepAlive(d)
	}
}

// TestKnownDocumentsAreBounded adds more documents than there is room for. The one that is used
// again and again stays.
func TestKnownDocumentsAreBounded(t *testing.T) {
	d := New(limits.Default(), false)
	first, _ := d.Read("{__typename}", "")
	largest := 0
	for n := range 400 {
		if _, errs := d.Read(documentShapes["values"](n), ""); errs != nil {
			t.Fatal(errs)
		}
		if again, _ := d.Read("{__typename}", ""); again != first {
			t.Fatalf("after %d documents, the first is not cached", n)
		}
		largest = max(largest, d.known.bytes)
	}
	sum := 0
	for element := d.known.order.Front(); element != nil; element = element.Next() {
		sum += element.Value.(*Document).Bytes
	}
	if largest > maxKnownBytes || largest < maxKnownBytes*9/10 || sum != d.known.bytes || len(d.known.byKey) != d.known.order.Len() {
		t.Errorf("%d bytes at most, %d now, %d documents with %d bytes", largest, d.known.bytes, len(d.known.byKey), sum)
	}
}

// TestKnownOperations checks that each operation of a document has its own entry, and that a name
// without an operation has none.
func TestKnownOperations(t *testing.T) {
	d := New(limits.Default(), false)
	const query = "query A{viewer{id}} query B{feed{nodes{id}}}"
	for range 2 {
		for name, ru := range map[string]float64{"A": 1, "B": 9.3} {
			known, errs := d.Read(query, name)
			if errs != nil || known.Operation.Name != name || known.price.RU != ru {
				t.Errorf("%s: %v, %+v", name, errs, known)
			}
		}
		for _, name := range []string{"", "C"} {
			if known, errs := d.Read(query, name); errs != nil || known.Operation != nil {
				t.Errorf("%q: %v, %+v", name, errs, known)
			}
		}
	}
	if len(d.known.byKey) != 2 {
		t.Errorf("%d operations are cached", len(d.known.byKey))
	}
}

// TestKnownPrices compares the prices of documents from the cache with those of new ones.
func TestKnownPrices(t *testing.T) {
	cached := New(limits.Default(), true)
	for name, shape := range documentShapes {
		for n := range 3 {
			variables := map[string]any{}
			for i := range 60 {
				variables[fmt.Sprint("v", i)] = "x"
			}
			fresh := New(limits.Default(), true)
			want, err := checkedPrice(t, fresh, shape(0), variables)
			got, cachedErr := checkedPrice(t, cached, shape(0), variables)
			if got != want || fmt.Sprint(err) != fmt.Sprint(cachedErr) {
				t.Errorf("%s, %d: got %v, %v, want %v, %v", name, n, got, cachedErr, want, err)
			}
		}
	}
}

// checkedPrice returns the price of a query's operation, and the error of its check.
func checkedPrice(t *testing.T, d *Documents, query string, variables map[string]any) (float64, error) {
	known, errs := d.Read(query, "")
	if errs != nil {
		t.Fatal(errs)
	}
	values, err := validator.VariableValues(d.schema, known.Operation, variables)
	if err != nil {
		t.Fatal(err)
	}
	operation := &graphql.OperationContext{Doc: known.AST, Operation: known.Operation, Variables: values}
	if err := d.prices.Check(operation, known.price); err != nil {
		return price.Of(operation).RU, err
	}
	return price.Of(operation).RU, nil
}

// TestConcurrentDocuments reads the same few documents in many goroutines.
func TestConcurrentDocuments(t *testing.T) {
	d := New(limits.Default(), false)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 50 {
				n := (worker + i) % 5
				if known, errs := d.Read(documentShapes["arguments"](n), ""); errs != nil || known.Operation.Name != fmt.Sprint("Q", n) {
					t.Errorf("document %d: %v, %+v", n, errs, known)
				}
			}
		})
	}
	all.Wait()
	if len(d.known.byKey) != 5 {
		t.Errorf("%d documents are cached", len(d.known.byKey))
	}
}

// largeShapes are documents that the cache does not take, and streams may hold. Each has a number
// to make it unique.
var largeShapes = map[string]func(n int) string{
	"fields": func(n int) string {
		return fmt.Sprintf(`subscription S%d{postChanged(id:"p"){%s}}`, n, strings.Repeat("author{id} ", 120))
	},
	"arguments": func(n int) string {
		return fmt.Sprintf(`subscription S%d{postChanged(id:"p"){%s}}`, n, strings.Repeat("comments(first:1){nodes{id}}", 80))
	},
	"directives": func(n int) string {
		return fmt.Sprintf(`subscription S%d{postChanged(id:"p"){%s %s}}`, n, strings.Repeat("id @skip(if:false) ", 48), strings.Repeat("author{id} ", 90))
	},
	"an escaped text": func(n int) string { // the value is a copy
		return fmt.Sprintf(`subscription S%d{postChanged(id:"p%s"){id}}`, n, strings.Repeat(`\"`, 30<<10))
	},
	"variables": func(n int) string {
		var declared, used strings.Builder
		for i := range 50 {
			fmt.Fprintf(&declared, "$v%d:Boolean=false ", i)
			fmt.Fprintf(&used, "id @skip(if:$v%d)", i)
		}
		return fmt.Sprintf(`subscription S%d(%s){postChanged(id:"p"){%s %s}}`, n, declared.String(), used.String(), strings.Repeat("author{id} ", 90))
	},
	"a long text": func(n int) string {
		return fmt.Sprintf(`subscription S%d{postChanged(id:"p%s"){id}}`, n, strings.Repeat("y", 60<<10))
	},
	"a long comment": func(n int) string {
		return fmt.Sprintf("#%s\nsubscription S%d{postChanged(id:\"p\"){id}}", strings.Repeat("y", 60<<10), n)
	},
}

// TestHeldDocumentsAreCharged compares what streams are charged for the documents that they hold
// with the memory that these take.
func TestHeldDocumentsAreCharged(t *testing.T) {
	for name, shape := range largeShapes {
		d := New(limits.Default(), false)
		const count = 30
		charged, held := 0, make([]*Document, count)
		before := heapBytes()
		for n := range count {
			known, errs := d.Read(shape(n), "")
			if errs != nil {
				t.Fatalf("%s: %v", name, errs)
			}
			held[n], _ = d.Hold(known)
			charged += held[n].Bytes
		}
		taken := heapBytes() - before
		if len(d.known.byKey) != 0 {
			t.Errorf("%s: the cache takes the documents", name)
		}
		t.Logf("%s: %d bytes are charged, %d are taken", name, charged/count, taken/count)
		if taken > charged {
			t.Errorf("%s: %d bytes are charged, %d are taken", name, charged, taken)
		}
		runtime.KeepAlive(held)
	}
}

// TestHeldDocumentsAreShared checks that a document is parsed and validated once as long as a
// stream holds it, and is forgotten afterwards.
func TestHeldDocumentsAreShared(t *testing.T) {
	d := New(limits.Default(), false)
	query := largeShapes["fields"](0)
	read := func() *Document {
		known, errs := d.Read(strings.Clone(query), "")
		if errs != nil {
			t.Fatal(errs)
		}
		return known
	}
	early, late := read(), read()
	if early == late {
		t.Fatal("the cache took the document")
	}
	first, releaseFirst := d.Hold(early)
	second, releaseSecond := d.Hold(late)
	if first != early || second != early || read() != early {
		t.Error("a held document is validated again")
	}
	releaseFirst()
	releaseFirst()
	if read() != early {
		t.Error("a document that one stream still holds is validated again")
	}
	releaseSecond()
	if read() == early || len(d.known.held) != 0 {
		t.Error("a document is kept after the streams")
	}
}

// BenchmarkReadLarge reads large documents, none of which is known.
func BenchmarkReadLarge(b *testing.B) {
	largeShapes := maps.Clone(largeShapes)
	largeShapes["one field"] = func(n int) string {
		return fmt.Sprintf(`subscription S%d{postChanged(id:"p"){%s}}#%s`, n, strings.Repeat("id ", 240), strings.Repeat("x", MaxBytes))
	}
	for name, shape := range largeShapes {
		b.Run(name, func(b *testing.B) {
			d := New(limits.Default(), false)
			var charged time.Duration
			for n := range b.N {
				known, errs := d.Read(shape(n), "")
				if errs != nil {
					b.Fatal(errs)
				}
				charged += known.Charge()
			}
			b.ReportMetric(float64(charged)/float64(b.N), "charged-ns/op")
		})
	}
}
