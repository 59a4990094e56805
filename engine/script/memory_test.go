package script_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

const (
	altLink  = "dbs/blog/colls/posts"
	selfLink = "dbs/AbC0AA==/colls/AbC0AIQn0gM=/"
)

// memory is a collection of items in memory. It numbers etags and generated ids, and records
// every call.
type memory struct {
	ids     []string // in the order of their creation
	items   map[string]value.Value
	counter int
	calls   []string
	fail    func(call string) error // injects errors if not nil
}

func newMemory(t testing.TB, items ...string) *memory {
	t.Helper()
	m := &memory{items: map[string]value.Value{}}
	for _, item := range items {
		if _, err := m.Create(parsed(item), false); err != nil {
			t.Fatal(err)
		}
	}
	m.calls = nil
	return m
}

func (m *memory) SelfLink() string { return selfLink }
func (m *memory) AltLink() string  { return altLink }

func (m *memory) begin(format string, args ...any) error {
	call := fmt.Sprintf(format, args...)
	m.calls = append(m.calls, call)
	if m.fail != nil {
		return m.fail(call)
	}
	return nil
}

// find returns the id in a link. Both kinds of link end with the id.
func (m *memory) find(link string) (string, error) {
	link = strings.TrimSuffix(link, "/")
	id := link[strings.LastIndexByte(link, '/')+1:]
	if _, ok := m.items[id]; !ok {
		return "", &script.OperationError{Number: 404, Message: "not found"}
	}
	return id, nil
}

func (m *memory) store(id string, item value.Value) (value.Value, error) {
	m.counter++
	item = item.With("id", value.String(id)).With("_self", value.String(selfLink+"docs/"+id+"/")).
		With("_etag", value.String(`"`+strconv.Itoa(m.counter)+`"`))
	if _, ok := m.items[id]; !ok {
		m.ids = append(m.ids, id)
	}
	m.items[id] = item
	return item, nil
}

func (m *memory) match(id, ifMatch string) error {
	if etag, _ := m.items[id].Get("_etag").AsString(); ifMatch != "" && etag != ifMatch {
		return &script.OperationError{Number: 412, Message: "etag"}
	}
	return nil
}

func (m *memory) Read(link string) (value.Value, error) {
	if err := m.begin("read %s", link); err != nil {
		return value.Undefined, err
	}
	id, err := m.find(link)
	return m.items[id], err
}

// parsed returns the value of a JSON text.
func parsed(text string) value.Value {
	v, err := value.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func (m *memory) Create(item value.Value, generateID bool) (value.Value, error) {
	if err := m.begin("create %s", item); err != nil {
		return value.Undefined, err
	}
	id, _ := item.Get("id").AsString()
	switch {
	case item.Kind() != value.KindObject || id == "" && !generateID:
		return value.Undefined, &script.OperationError{Number: 400, Message: "bad item"}
	case id == "":
		id = "generated-" + strconv.Itoa(m.counter)
	case !m.items[id].IsUndefined():
		return value.Undefined, &script.OperationError{Number: 409, Message: "exists"}
	}
	return m.store(id, item)
}

func (m *memory) Upsert(item value.Value, generateID bool, ifMatch string) (value.Value, bool, error) {
	id, _ := item.Get("id").AsString()
	if m.items[id].IsUndefined() {
		stored, err := m.Create(item, generateID)
		return stored, true, err
	}
	if err := m.begin("upsert %s", item); err != nil {
		return value.Undefined, false, err
	}
	if err := m.match(id, ifMatch); err != nil {
		return value.Undefined, false, err
	}
	stored, err := m.store(id, item)
	return stored, false, err
}

func (m *memory) Replace(link string, item value.Value, ifMatch string) (value.Value, error) {
	if err := m.begin("replace %s %s", link, item); err != nil {
		return value.Undefined, err
	}
	id, err := m.find(link)
	if err == nil {
		err = m.match(id, ifMatch)
	}
	if err != nil {
		return value.Undefined, err
	}
	if item.Kind() != value.KindObject {
		return value.Undefined, &script.OperationError{Number: 400, Message: "bad item"}
	}
	return m.store(id, item)
}

func (m *memory) Delete(link string, ifMatch string) error {
	if err := m.begin("delete %s", link); err != nil {
		return err
	}
	id, err := m.find(link)
	if err == nil {
		err = m.match(id, ifMatch)
	}
	if err != nil {
		return err
	}
	delete(m.items, id)
	m.ids = slices.DeleteFunc(m.ids, func(other string) bool { return other == id })
	return nil
}

func (m *memory) ReadFeed(continuation string, pageSize int) (script.Page, error) {
	if err := m.begin("feed %s %d", continuation, pageSize); err != nil {
		return script.Page{}, err
	}
	return m.page(func(value.Value) bool { return true }, continuation, pageSize)
}

// Query supports only SELECT * FROM c, optionally with WHERE c.<property> = @v.
func (m *memory) Query(ctx context.Context, query []byte, continuation string, pageSize int) (script.Page, error) {
	if err := m.begin("query %s %s %d", query, continuation, pageSize); err != nil {
		return script.Page{}, err
	}
	q, _ := value.Parse(query)
	text, _ := q.Get("query").AsString()
	property, found := strings.CutPrefix(text, "SELECT * FROM c WHERE c.")
	property, _ = strings.CutSuffix(property, " = @v")
	if !found && text != "SELECT * FROM c" {
		return script.Page{}, &script.OperationError{Number: 400, Message: "syntax"}
	}
	wanted := q.Get("parameters").At(0).Get("value")
	return m.page(func(v value.Value) bool { return !found || value.Equal(v.Get(property), wanted) }, continuation, pageSize)
}

// page returns a page of the matching items. The continuation is an index into ids.
func (m *memory) page(matches func(value.Value) bool, continuation string, pageSize int) (script.Page, error) {
	from, _ := strconv.Atoi(continuation)
	var page script.Page
	for i := from; i < len(m.ids); i++ {
		if item := m.items[m.ids[i]]; matches(item) {
			if len(page.Items) == pageSize {
				page.Continuation = strconv.Itoa(i)
				break
			}
			page.Items = append(page.Items, item)
		}
	}
	return page, nil
}

// get returns a property of an item as JSON.
func (m *memory) get(id, property string) string { return m.items[id].Get(property).String() }

func compile(t testing.TB, body string) *script.Program {
	t.Helper()
	p, err := script.Compile("test", body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// execute runs a script that must succeed, and returns its response. The script must do the same
// with ordinary objects instead of documents.
func execute(t testing.TB, m *memory, body string, arguments ...any) string {
	t.Helper()
	same := m.clone()
	r, err := compile(t, body).Execute(t.Context(), m, array(t, arguments...), script.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.fail == nil {
		ordinary, err := compile(t, withOrdinaryObjects(body)).Execute(t.Context(), same, array(t, arguments...), script.Options{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "response with ordinary objects", string(ordinary.Body), string(r.Body))
		equal(t, "calls with ordinary objects", strings.Join(same.calls, "\n"), strings.Join(m.calls, "\n"))
	}
	return string(r.Body)
}

// withOrdinaryObjects returns a script that gets ordinary objects, because it names Object.
func withOrdinaryObjects(body string) string { return body + " // Object" }

func (m *memory) clone() *memory {
	return &memory{ids: slices.Clone(m.ids), items: maps.Clone(m.items), counter: m.counter, calls: slices.Clone(m.calls), fail: m.fail}
}

// try runs a script that may fail.
func try(t testing.TB, m *memory, o script.Options, body string, arguments ...any) (script.Result, error) {
	t.Helper()
	return compile(t, body).Execute(t.Context(), m, array(t, arguments...), o)
}

func array(t testing.TB, arguments ...any) []byte {
	t.Helper()
	text, err := json.Marshal(append([]any{}, arguments...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
