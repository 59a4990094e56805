package script_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cosmosblog/engine/script"
	"cosmosblog/proof/testseed"
)

// The scripts here are typical ones: bulk deletion and bulk import with repeated calls, a swap
// of two items, a sum, and the update of an item. They are files because the engine's tests also
// use them.

func sample(name string) string {
	body, err := os.ReadFile("testdata/" + name + ".js")
	if err != nil {
		panic(err)
	}
	return string(body)
}

var bulkDeleteScript = sample("bulkDelete")

// bulkDelete executes the script until nothing is left. Each execution may perform limit
// operations.
func bulkDelete(t testing.TB, m *memory, limit int) (deleted, calls int) {
	p := compile(t, bulkDeleteScript)
	for more := true; more; calls++ {
		o := script.Options{Accept: func(operation int) bool { return operation <= limit }}
		r, err := p.Execute(t.Context(), m, array(t, "SELECT * FROM c"), o)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscanf(string(r.Body), `{"deleted":%d,"more":%t}`, &n, &more); err != nil {
			t.Fatalf("invalid body %s: %v", r.Body, err)
		}
		deleted += n
	}
	return deleted, calls
}

func TestBulkDelete(t *testing.T) {
	m := newMemory(t)
	for i := range 95 {
		m.Create(parsed(fmt.Sprintf(`{"id":"%d"}`, i)), false)
	}
	deleted, calls := bulkDelete(t, m, 40)
	equal(t, "deleted", deleted, 95)
	equal(t, "left", len(m.items), 0)
	equal(t, "calls", calls, 3)
}

var bulkImportScript = sample("bulkImport")

func TestBulkImport(t *testing.T) {
	p := compile(t, bulkImportScript)
	testseed.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(rt, "items")
		limit := rapid.IntRange(1, 8).Draw(rt, "limit")
		m := newMemory(t)
		items := make([]map[string]any, n)
		for i := range items {
			items[i] = map[string]any{"id": fmt.Sprint("i", i), "place": i}
		}
		for rest := items; len(rest) > 0; {
			r, err := p.Execute(t.Context(), m, array(t, rest), script.Options{Accept: func(operation int) bool { return operation <= limit }})
			if err != nil {
				rt.Fatal(err)
			}
			var imported int
			if _, err := fmt.Sscan(string(r.Body), &imported); err != nil || imported != min(limit, len(rest)) {
				rt.Fatalf("imported %s of %d with %d operations", r.Body, len(rest), limit)
			}
			rest = rest[imported:]
		}
		for i := range items {
			if m.ids[i] != fmt.Sprint("i", i) || m.get(m.ids[i], "place") != fmt.Sprint(i) {
				rt.Fatalf("item %d is %s", i, m.ids[i])
			}
		}
	})
}

func TestBulkImportFailsOnConflict(t *testing.T) {
	m := newMemory(t, `{"id":"b"}`)
	_, err := try(t, m, script.Options{}, bulkImportScript, []map[string]any{{"id": "a"}, {"id": "b"}, {"id": "c"}})
	var failed *script.ScriptError
	if !errors.As(err, &failed) || failed.Number != 409 || failed.Message != "Error: b: exists" {
		t.Errorf("got %v, want a 409", err)
	}
	equal(t, "calls", len(m.calls), 2)
}

var swapScript = sample("swap")

func TestSwap(t *testing.T) {
	m := newMemory(t, `{"id":"a","item":"sword"}`, `{"id":"b","item":"shield"}`)
	equal(t, "body", execute(t, m, swapScript, "a", "b", "item"), "true")
	equal(t, "swapped", m.get("a", "item")+m.get("b", "item"), `"shield""sword"`)

	_, err := try(t, m, script.Options{}, swapScript, "a", "z", "item")
	if failed := (*script.ScriptError)(nil); !errors.As(err, &failed) || failed.Number != 404 {
		t.Errorf("second item missing: got %v", err)
	}
	_, err = try(t, m, script.Options{Accept: func(operation int) bool { return operation < 4 }}, swapScript, "a", "b", "item")
	if failed := (*script.ScriptError)(nil); !errors.As(err, &failed) || failed.Number != 503 {
		t.Errorf("last write rejected: got %v", err)
	}
	reads := 0
	m.fail = func(call string) error { // a concurrent write changes the item after the read
		if reads++; reads == 2 {
			m.store("a", m.items["a"])
		}
		return nil
	}
	_, err = try(t, m, script.Options{}, swapScript, "a", "b", "item")
	if failed := (*script.ScriptError)(nil); !errors.As(err, &failed) || failed.Number != 412 {
		t.Errorf("changed concurrently: got %v", err)
	}
}

var sumScript = sample("sum")

func TestSum(t *testing.T) {
	m, want := newMemory(t), 0
	for i := range 40 {
		m.Create(parsed(fmt.Sprintf(`{"id":"%d","n":%d}`, i, i)), false)
		want += i
	}
	m.Create(parsed(`{"id":"x","n":"many"}`), false)
	equal(t, "in one call", execute(t, m, sumScript, "n"), fmt.Sprintf(`{"sum":%d}`, want))

	o := script.Options{Accept: func(operation int) bool { return operation <= 2 }}
	var total, from int
	var results []string
	for call := 0; ; call++ {
		arguments := []any{"n", fmt.Sprint(from), total}
		r, err := try(t, m, o, sumScript, arguments...)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, string(r.Body))
		if n, _ := fmt.Sscanf(string(r.Body), `{"sum":%d,"continuation":"%d"}`, &total, &from); n < 2 {
			break
		}
	}
	wantResults := []string{`{"sum":91,"continuation":"14"}`, `{"sum":378,"continuation":"28"}`, fmt.Sprintf(`{"sum":%d}`, want)}
	if !slices.Equal(results, wantResults) {
		t.Errorf("in several calls: got %v, want %v", results, wantResults)
	}
}

var updateScript = sample("update")

func TestUpdate(t *testing.T) {
	m := newMemory(t, `{"id":"a","n":1,"old":true}`)
	changes := map[string]any{"$inc": map[string]int{"n": 4, "m": 1}, "$set": map[string]any{"s": []int{1}}, "$unset": map[string]int{"old": 1}}
	equal(t, "found", execute(t, m, updateScript, "a", changes), `{"code":"OK","etag":"\"2\""}`)
	equal(t, "item", m.get("a", "n")+m.get("a", "m")+m.get("a", "s")+m.get("a", "old"), `51[1]{}`)
	equal(t, "missing", execute(t, m, updateScript, "z", changes), `{"code":"NOT_FOUND"}`)
}

func TestCreateComment(t *testing.T) {
	m := newMemory(t, `{"id":"p1","postId":"p1","type":"post","content":"long","commentCount":2}`, `{"id":"l1","type":"like"}`)
	comment := func(postID, id string) map[string]string {
		return map[string]string{"postId": postID, "id": id, "userId": "u1", "content": "yes"}
	}
	body := execute(t, m, createCommentScript, comment("p1", "c1"))
	equal(t, "comments", m.get("p1", "commentCount"), "3")
	equal(t, "comment", m.get("c1", "content"), `"yes"`)
	equal(t, "code", body[:12], `{"code":"OK"`)
	equal(t, "not a post", execute(t, m, createCommentScript, comment("l1", "c2")), `{"code":"POST_NOT_FOUND"}`)

	for operation := 1; operation <= 3; operation++ {
		reject := script.Options{Accept: func(n int) bool { return n != operation }}
		_, err := try(t, m, reject, createCommentScript, comment("p1", "c3"+fmt.Sprint(operation)))
		if failed := (*script.ScriptError)(nil); !errors.As(err, &failed) || failed.Number != 503 {
			t.Errorf("operation %d rejected: got %v", operation, err)
		}
	}
}
