package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/engine/script"
)

// interleaved is an account with SnapshotScripts that runs other requests between two operations
// of a script.
type interleaved struct {
	*account
	at    int    // the operation before which to run between; 0 means never
	other func() // runs once; its own scripts are not interleaved
}

func newInterleaved(t *testing.T, options Options) *interleaved {
	t.Helper()
	i := &interleaved{}
	options.SnapshotScripts = true
	options.Script.Before = func(operation int) {
		if operation == i.at {
			i.at = 0
			i.other()
		}
	}
	i.account = newBlog(t, options)
	return i
}

// before runs other once, before the given operation of the next script.
func (i *interleaved) before(operation int, other func()) { i.at, i.other = operation, other }

func (i *interleaved) run(id, arguments string) answer {
	i.t.Helper()
	return i.send("POST", posts+"/sprocs/"+id, arguments, "pk", "p1")
}

// replaced replaces an item by one with another property n.
func (i *interleaved) replace(id string, n int) answer {
	i.t.Helper()
	return i.must(200, i.send("PUT", docs+"/"+id, fmt.Sprintf(`{"id":"%s","postId":"p1","n":%d}`, id, n), "pk", "p1"))
}

func (i *interleaved) remove(id string) answer {
	i.t.Helper()
	return i.must(204, i.send("DELETE", docs+"/"+id, "", "pk", "p1"))
}

// n returns the property n of an item, and -1 if there is no such item.
func (i *interleaved) n(id string) float64 {
	i.t.Helper()
	got := i.send("GET", docs+"/"+id, "", "pk", "p1")
	if got.status == 404 {
		return -1
	}
	n, _ := i.must(200, got).body.Get("n").AsNumber()
	return n
}

// lookScript looks at a partition in all ways, twice, and then creates an item.
const lookScript = `function look(write) {
	const context = getContext(), collection = context.getCollection(), link = collection.getAltLink(), seen = [];
	read("a", function () { read("b", function () { read("a", function () { read("b", function () { list(function () { query(create) }) }) }) }) });
	function read(id, next) {
		collection.readDocument(link + "/docs/" + id, function (err, item) { seen.push(err ? err.number : item.n); next(); });
	}
	function list(next) {
		collection.readDocuments(link, {}, function (err, items) { seen.push(items.map(function (i) { return i.id + i.n })); next(); });
	}
	function query(next) {
		const text = "SELECT VALUE c.id FROM c WHERE c.n >= 0 ORDER BY c.id";
		collection.queryDocuments(link, text, {}, function (err, ids) { seen.push(ids); next(); });
	}
	function create() {
		context.getResponse().setBody(seen);
		if (write) collection.createDocument(link, { id: "c", postId: "p1", n: 0 });
	}
}`

// A script sees the partition as it was when the script began, whatever is written meanwhile, and
// commits if it wrote other items. Its writes follow the others in the change feed.
func TestScriptReadsSnapshot(t *testing.T) {
	for operation := 1; operation <= 8; operation++ {
		for _, own := range []bool{false, true} {
			i := newInterleaved(t, Options{QueriesSeeOwnWrites: own})
			i.addScript("sprocs", "look", lookScript)
			i.create("p1", `{"id":"a","postId":"p1","n":1}`)
			i.create("p1", `{"id":"gone","postId":"p1","n":1}`)
			start := i.must(200, i.changes("")).header.Get("Etag")
			var other string
			i.before(operation, func() {
				i.replace("a", 2)
				i.remove("gone")
				other = i.create("p1", `{"id":"b","postId":"p1","n":2}`).header.Get("X-Ms-Session-Token")
			})
			done := i.must(200, i.run("look", "[true]"))
			if want := `[1,404,1,404,["a1","gone1"],["a","gone"]]`; done.text != want {
				t.Errorf("other writes before operation %d: the script saw %s, want %s", operation, done.text, want)
			}
			if i.n("a") != 2 || i.n("b") != 2 || i.n("c") != 0 || i.n("gone") != -1 {
				t.Errorf("other writes before operation %d: a %v, b %v, c %v, gone %v", operation, i.n("a"), i.n("b"), i.n("c"), i.n("gone"))
			}
			changed := i.must(200, i.changes(start))
			if got := fmt.Sprint(changed.ids()); got != "[a b c]" {
				t.Errorf("the change feed has %s", got)
			}
			if own := done.header.Get("X-Ms-Session-Token"); own != "0:-1#6" || other != "0:-1#5" {
				t.Errorf("session tokens: the script's %s, the last other's %s", own, other)
			}
		}
	}
}

// The session token of a script that wrote nothing is that of its snapshot, because the script has
// seen nothing later.
func TestSessionTokenOfSnapshot(t *testing.T) {
	i := newInterleaved(t, Options{})
	i.addScript("sprocs", "look", lookScript)
	i.create("p1", `{"id":"a","postId":"p1","n":1}`)
	i.before(3, func() { i.replace("a", 2) })
	for _, want := range []string{"0:-1#1", "0:-1#2"} {
		done := i.must(200, i.run("look", "[]"))
		if got := done.header.Get("X-Ms-Session-Token"); got != want {
			t.Errorf("the token is %s, want %s", got, want)
		}
	}
}

// workScript applies operations, each of which is [kind, id].
const workScript = `function work(operations, fail) {
	const collection = getContext().getCollection(), link = collection.getAltLink();
	next();
	function next() {
		if (operations.length === 0) { if (fail) throw new Error(4711, "asked to fail"); return; }
		const o = operations.shift(), item = { id: o[1], postId: "p1", n: 100 }, self = link + "/docs/" + o[1];
		if (o[0] === "read") collection.readDocument(self, done);
		if (o[0] === "create") collection.createDocument(link, item, done);
		if (o[0] === "replace") collection.replaceDocument(self, item, done);
		if (o[0] === "upsert") collection.upsertDocument(link, item, done);
		if (o[0] === "delete") collection.deleteDocument(self, done);
	}
	function done(err) { if (err) throw new Error(err.number, err.body); next(); }
}`

// A script is rejected with 449 if an item that it wrote was written meanwhile, in any way, and
// nothing of the script remains. It is not rejected if it only read that item.
func TestScriptConflicts(t *testing.T) {
	others := map[string]func(*interleaved){
		"replace":  func(i *interleaved) { i.replace("x", 1) },
		"the same": func(i *interleaved) { i.replace("x", 0) },
		"delete":   func(i *interleaved) { i.remove("x") },
		"again":    func(i *interleaved) { i.remove("x"); i.create("p1", `{"id":"x","postId":"p1","n":1}`) },
		"patch": func(i *interleaved) {
			i.must(200, i.send("PATCH", docs+"/x", `{"operations":[{"op":"incr","path":"/n","value":1}]}`, "pk", "p1"))
		},
		"batch": func(i *interleaved) {
			i.must(200, i.send("POST", docs, `[{"operationType":"Upsert","resourceBody":{"id":"x","postId":"p1","n":1}}]`,
				"pk", "p1", "x-ms-cosmos-is-batch-request", "true", "x-ms-cosmos-batch-atomic", "true"))
		},
		"script":  func(i *interleaved) { i.must(200, i.run("work", `[[["replace","x"]]]`)) },
		"trigger": func(i *interleaved) { i.create("p1", `{"id":"y","postId":"p1"}`); i.writeX() },
	}
	for name, other := range others {
		for script, want := range map[string]int{
			`["read","x"],["create","new"]`:                  200,
			`["replace","x"],["create","new"]`:               449,
			`["upsert","x"],["create","new"]`:                449,
			`["delete","x"],["create","new"]`:                449,
			`["create","new"],["delete","x"],["upsert","x"]`: 449,
		} {
			for operation := 1; operation <= 3; operation++ {
				i := newInterleaved(t, Options{})
				i.addScript("sprocs", "work", workScript)
				i.addScript("triggers", "writeX", writeXTrigger, `,"triggerType":"Post","triggerOperation":"All"`)
				i.create("p1", `{"id":"x","postId":"p1","n":0}`)
				var after string
				var n float64
				i.before(operation, func() {
					other(i)
					after, n = i.changes("").header.Get("Etag"), i.n("x")
				})
				got := i.must(want, i.run("work", "[["+script+"]]"))
				if want == 200 {
					if i.n("new") != 100 || i.n("x") != n {
						t.Errorf("%s during %s: x %v, new %v", name, script, i.n("x"), i.n("new"))
					}
					continue
				}
				code, _ := got.body.Get("code").AsString()
				if token := got.header.Get("X-Ms-Session-Token"); code != "RetryWith" || token != "" || got.header.Get("X-Ms-Request-Charge") == "" {
					t.Errorf("%s during %s: code %s, token %q, charge %s", name, script, code, token, got.header.Get("X-Ms-Request-Charge"))
				}
				if i.n("new") != -1 || i.n("x") != n {
					t.Errorf("%s during %s, before operation %d: x %v instead of %v, new %v", name, script, operation, i.n("x"), n, i.n("new"))
				}
				i.must(304, i.changes(after))
			}
		}
	}
}

const writeXTrigger = `function () {
	const c = getContext().getCollection();
	c.upsertDocument(c.getAltLink(), { id: "x", postId: "p1", n: 7 });
}`

// writeX writes an item with a trigger that writes x.
func (i *interleaved) writeX() {
	i.t.Helper()
	i.must(200, i.send("POST", docs, `{"id":"y","postId":"p1"}`, "pk", "p1", "x-ms-documentdb-is-upsert", "true",
		"x-ms-documentdb-post-trigger-include", "writeX"))
}

// Two scripts that create the same item conflict. So does one that created and deleted it.
func TestScriptsCreatingSameItem(t *testing.T) {
	for _, script := range []string{`["create","new"]`, `["create","new"],["delete","new"]`} {
		i := newInterleaved(t, Options{})
		i.addScript("sprocs", "work", workScript)
		i.before(1, func() { i.create("p1", `{"id":"new","postId":"p1","n":1}`) })
		i.must(449, i.run("work", "[["+script+"]]"))
		if i.n("new") != 1 {
			t.Errorf("after %s, the item has n %v", script, i.n("new"))
		}
	}
}

// A write with a trigger is one transaction, including the written item.
func TestTriggerConflicts(t *testing.T) {
	for operation := 1; operation <= 2; operation++ {
		for id, want := range map[string]int{"x": 449, "y": 449, "z": 200} {
			i := newInterleaved(t, Options{})
			i.addScript("triggers", "writeX", writeXTrigger, `,"triggerType":"Post","triggerOperation":"All"`)
			for _, id := range []string{"x", "y", "z"} {
				i.create("p1", `{"id":"`+id+`","postId":"p1","n":0}`)
			}
			i.before(operation, func() { i.replace(id, 1) })
			i.must(want, i.send("POST", docs, `{"id":"y","postId":"p1","n":2}`, "pk", "p1", "x-ms-documentdb-is-upsert", "true",
				"x-ms-documentdb-post-trigger-include", "writeX"))
			if want == 449 && (i.n(id) != 1 || i.n("x")+i.n("y") > 1) {
				t.Errorf("%s was replaced, then x %v, y %v", id, i.n("x"), i.n("y"))
			}
			if want == 200 && (i.n("x") != 7 || i.n("y") != 2 || i.n("z") != 1) {
				t.Errorf("x %v, y %v, z %v", i.n("x"), i.n("y"), i.n("z"))
			}
		}
	}
}

// A script that fails leaves the writes of others.
func TestFailedScriptLeavesOtherWrites(t *testing.T) {
	i := newInterleaved(t, Options{})
	i.addScript("sprocs", "work", workScript)
	i.create("p1", `{"id":"x","postId":"p1","n":0}`)
	i.before(2, func() { i.replace("x", 1) })
	i.must(400, i.run("work", `[[["replace","x"],["create","new"]],true]`))
	if i.n("x") != 1 || i.n("new") != -1 {
		t.Errorf("x %v, new %v", i.n("x"), i.n("new"))
	}
}

// Write skew is possible: of two doctors on call, each may leave, because each has seen the other.
func TestWriteSkew(t *testing.T) {
	const leave = `function leave(me, other) {
		const c = getContext().getCollection(), docs = c.getAltLink() + "/docs/";
		c.readDocument(docs + other, function (err, item) {
			if (item.n > 0) c.replaceDocument(docs + me, { id: me, postId: "p1", n: 0 });
		});
	}`
	i := newInterleaved(t, Options{})
	i.addScript("sprocs", "leave", leave)
	i.create("p1", `{"id":"a","postId":"p1","n":1}`)
	i.create("p1", `{"id":"b","postId":"p1","n":1}`)
	i.before(2, func() { i.must(200, i.run("leave", `["b","a"]`)) })
	i.must(200, i.run("leave", `["a","b"]`))
	if i.n("a") != 0 || i.n("b") != 0 {
		t.Errorf("a %v, b %v: the engine shows no write skew", i.n("a"), i.n("b"))
	}
}

// The range is split, the indexes change, or the container is deleted while a script runs.
func TestChangedContainerDuringScript(t *testing.T) {
	run := func(other func(*interleaved)) (*interleaved, answer) {
		i := newInterleaved(t, Options{})
		i.addScript("sprocs", "work", workScript)
		i.create("p1", `{"id":"x","postId":"p1","n":0}`)
		i.before(2, func() { other(i) })
		return i, i.run("work", `[[["replace","x"],["create","new"]]]`)
	}
	i, split := run(func(i *interleaved) {
		if err := i.Split("blog", "posts", "0"); err != nil {
			t.Fatal(err)
		}
	})
	i.must(200, split)
	if i.n("x") != 100 || i.n("new") != 100 {
		t.Errorf("after a split: x %v, new %v", i.n("x"), i.n("new"))
	}
	i, redefined := run(func(i *interleaved) {
		i.must(200, i.send("PUT", posts, strings.Replace(blogContainer, `,{"path":"/userId/?"}`, ``, 1)))
	})
	i.must(449, redefined)
	if i.n("x") != 0 || i.n("new") != -1 {
		t.Errorf("after another definition: x %v, new %v", i.n("x"), i.n("new"))
	}
	i, deleted := run(func(i *interleaved) { i.must(204, i.send("DELETE", posts, "")) })
	i.must(449, deleted)
	i.must(404, i.run("work", "[[]]"))
}

// An item that expires while a script runs conflicts only if it is removed.
func TestExpiredItemDuringScript(t *testing.T) {
	for purge, want := range map[bool]int{false: 200, true: 449} {
		i := newInterleaved(t, Options{})
		i.addScript("sprocs", "work", workScript)
		i.create("p1", `{"id":"x","postId":"p1","n":0,"ttl":10}`)
		i.before(2, func() {
			i.clock.advance(11 * time.Second)
			if !purge {
				return
			}
			if n, err := i.Purge(t.Context()); n != 1 || err != nil {
				t.Errorf("%d removed: %v", n, err)
			}
		})
		i.must(want, i.run("work", `[[["replace","x"],["create","new"]]]`))
		if exists := i.n("x") == 100; exists != !purge {
			t.Errorf("purged %v: x %v", purge, i.n("x"))
		}
	}
}

// Concurrent scripts that write the same item lose no update if they are repeated after 449.
func TestConcurrentSnapshotScripts(t *testing.T) {
	a := newBlog(t, Options{SnapshotScripts: true, Script: script.Options{Before: func(int) {}}})
	a.addScript("sprocs", "increment", incrementScript)
	a.create("p1", `{"id":"post","postId":"p1"}`)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for done := 0; done < 25; {
				switch got := a.send("POST", posts+"/sprocs/increment", "[]", "pk", "p1"); got.status {
				case 200:
					done++
				case 449:
				default:
					t.Errorf("status %d: %s", got.status, got.text)
					return
				}
			}
		})
	}
	group.Wait()
	post := a.must(200, a.send("GET", docs+"/post", "", "pk", "p1"))
	if n, _ := post.body.Get("n").AsNumber(); n != 100 {
		t.Errorf("the counter is %v", n)
	}
	if all := a.must(200, a.query("p1", `{"query":"SELECT VALUE COUNT(1) FROM c"}`)); all.body.Get("Documents").String() != "[101]" {
		t.Errorf("items: %s", all.text)
	}
}
