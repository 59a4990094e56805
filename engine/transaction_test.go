package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// addScript stores a script with the given body.
func (a *account) addScript(kind, id, body string, more ...string) {
	a.t.Helper()
	text := append([]byte(`{"id":"`+id+`","body":`), value.AppendString(nil, body)...)
	a.must(201, a.send("POST", posts+"/"+kind, string(text)+strings.Join(more, "")+"}"))
}

const incrementScript = `function increment(fail) {
	const context = getContext(), collection = context.getCollection(), link = collection.getAltLink();
	if (!collection.readDocument(link + "/docs/post", function (err, post) {
		if (err) throw new Error(err.number, "POST_NOT_FOUND");
		post.n = (post.n | 0) + 1;
		if (!collection.replaceDocument(post._self, post, { etag: post._etag }, function (err) {
			if (err) throw err;
			if (!collection.createDocument(link, { id: "c" + post.n, postId: post.postId }, function (err, comment) {
				if (err) throw err;
				if (fail) throw new Error(4711, "asked to fail");
				context.getResponse().setBody({ n: post.n, comment: comment.id });
			})) throw new Error("create rejected");
		})) throw new Error("replace rejected");
	})) throw new Error("read rejected");
}`

func TestProcedureIsOneTransaction(t *testing.T) {
	a := newBlog(t, Options{})
	a.addScript("sprocs", "increment", incrementScript)
	run := func(arguments string) answer { return a.send("POST", posts+"/sprocs/increment", arguments, "pk", "p1") }

	missing := a.must(400, run("[]"))
	if missing.header.Get("X-Ms-Substatus") != "404" {
		t.Errorf("substatus %q: %s", missing.header.Get("X-Ms-Substatus"), missing.text)
	}
	a.create("p1", `{"id":"post","postId":"p1"}`)
	feed := a.must(200, a.changes(""))
	done := a.must(200, run("[]"))
	if done.text != `{"n":1,"comment":"c1"}` {
		t.Errorf("body %s", done.text)
	}
	failed := a.must(400, run("[true]"))
	if failed.header.Get("X-Ms-Substatus") != "4711" || !strings.Contains(failed.text, "asked to fail") {
		t.Errorf("failed: %s %s", failed.header.Get("X-Ms-Substatus"), failed.text)
	}
	a.must(404, a.send("GET", docs+"/c2", "", "pk", "p1"))
	post := a.must(200, a.send("GET", docs+"/post", "", "pk", "p1"))
	if n, _ := post.body.Get("n").AsNumber(); n != 1 {
		t.Errorf("the counter is %v after one success and one failure", n)
	}
	changed := a.must(200, a.changes(feed.header.Get("Etag"), "x-ms-max-item-count", "1"))
	if len(changed.items()) != 2 {
		t.Errorf("items of one transaction are on different pages: %v", changed.ids())
	}
	a.must(404, a.send("POST", posts+"/sprocs/none", "[]", "pk", "p1"))
	a.must(400, a.send("POST", posts+"/sprocs/increment", "[]"))
	a.must(400, run(`"scalar"`))
	a.addScript("sprocs", "broken", "function (")
	if got := a.must(400, a.send("POST", posts+"/sprocs/broken", "[]", "pk", "p1")); got.header.Get("X-Ms-Substatus") != "65535" {
		t.Errorf("compile error: %s", got.text)
	}
}

func TestRejectedOperationsLeaveNoPartialCommit(t *testing.T) {
	for rejected := 1; rejected <= 3; rejected++ {
		a := newBlog(t, Options{Script: script.Options{Accept: func(n int) bool { return n < rejected }}})
		a.addScript("sprocs", "increment", incrementScript)
		a.create("p1", `{"id":"post","postId":"p1"}`)
		a.must(400, a.send("POST", posts+"/sprocs/increment", "[]", "pk", "p1"))
		if all := a.must(200, a.query("p1", `{"query":"SELECT VALUE COUNT(1) FROM c"}`)); all.body.Get("Documents").String() != "[1]" {
			t.Errorf("rejecting at %d: %s", rejected, all.text)
		}
	}
}

func TestQueriesInScripts(t *testing.T) {
	const body = `function look() {
		const context = getContext(), collection = context.getCollection(), link = collection.getAltLink(), seen = [];
		collection.createDocument(link, { id: "new", postId: "p1", type: "x" }, function () {
			collection.deleteDocument(link + "/docs/old", {}, function (err) {
				if (err) throw err;
				next();
			});
		});
		function next(continuation) {
			collection.queryDocuments(link, { query: "SELECT VALUE c.id FROM c WHERE c.type = @t", parameters: [{ name: "@t", value: "x" }] },
				{ pageSize: 1, continuation: continuation }, function (err, ids, options) {
					if (err) throw err;
					ids.forEach(function (id) { seen.push(id) });
					if (options.continuation) next(options.continuation);
					else context.getResponse().setBody(seen);
				});
		}
	}`
	for own, want := range map[bool]string{false: `["kept"]`, true: `["kept","new"]`} {
		a := newBlog(t, Options{QueriesSeeOwnWrites: own})
		a.create("p1", `{"id":"old","postId":"p1","type":"x"}`)
		a.create("p1", `{"id":"kept","postId":"p1","type":"x"}`)
		a.addScript("sprocs", "look", body)
		if got := a.must(200, a.send("POST", posts+"/sprocs/look", "[]", "pk", "p1")); got.text != want {
			t.Errorf("QueriesSeeOwnWrites %v: %s, want %s", own, got.text, want)
		}
	}
}

func TestTriggers(t *testing.T) {
	a := newBlog(t, Options{})
	a.addScript("triggers", "stamp", `function stamp() { const r = getContext().getRequest(), b = r.getBody(); b.stamped = true; r.setBody(b); }`,
		`,"triggerType":"Pre","triggerOperation":"Create"`)
	a.addScript("triggers", "count", `function count() {
		const c = getContext().getCollection();
		if (getContext().getResponse().getBody().forbidden) throw new Error(403, "no");
		if (!c.upsertDocument(c.getAltLink(), { id: "last", postId: "p1", of: getContext().getResponse().getBody().id })) throw new Error("rejected");
	}`, `,"triggerType":"Post","triggerOperation":"All"`)
	got := a.must(201, a.send("POST", docs, `{"id":"a","postId":"p1"}`, "pk", "p1", "x-ms-documentdb-pre-trigger-include", "stamp", "x-ms-documentdb-post-trigger-include", "count"))
	if !got.body.Get("stamped").IsTrue() {
		t.Errorf("not stamped: %s", got.text)
	}
	last := a.must(200, a.send("GET", docs+"/last", "", "pk", "p1"))
	if of, _ := last.body.Get("of").AsString(); of != "a" {
		t.Errorf("last: %s", last.text)
	}
	a.must(400, a.send("POST", docs, `{"id":"b","postId":"p1","forbidden":true}`, "pk", "p1", "x-ms-documentdb-post-trigger-include", "count"))
	a.must(404, a.send("GET", docs+"/b", "", "pk", "p1"))
	a.must(400, a.send("POST", docs, `{"id":"a","postId":"p1"}`, "pk", "p1", "x-ms-documentdb-is-upsert", "true", "x-ms-documentdb-pre-trigger-include", "stamp"))
	a.must(400, a.send("POST", docs, `{"id":"b","postId":"p1"}`, "pk", "p1", "x-ms-documentdb-post-trigger-include", "none"))
	a.must(400, a.send("POST", docs, `{"id":"b","postId":"p1"}`, "pk", "p1", "x-ms-documentdb-post-trigger-include", "stamp"))
}

func TestBatchIsAtomic(t *testing.T) {
	a := newBlog(t, Options{})
	batch := func(body string) answer {
		return a.send("POST", docs, body, "pk", "p1", "x-ms-cosmos-is-batch-request", "True")
	}
	a.must(200, batch(`[{"operationType":"Create","resourceBody":{"id":"a","postId":"p1","n":1}},{"operationType":"Patch","id":"a","resourceBody":{"operations":[{"op":"incr","path":"/n","value":1}]}},{"operationType":"Read","id":"a"}]`))
	got := a.must(207, batch(`[{"operationType":"Create","resourceBody":{"id":"b","postId":"p1"}},{"operationType":"Create","resourceBody":{"id":"a","postId":"p1"}},{"operationType":"Delete","id":"a"}]`))
	var statuses []string
	results, _ := got.body.AsArray()
	for _, r := range results {
		statuses = append(statuses, r.Get("statusCode").String())
	}
	if fmt.Sprint(statuses) != "[424 409 424]" {
		t.Errorf("statuses %v", statuses)
	}
	a.must(404, a.send("GET", docs+"/b", "", "pk", "p1"))
	a.must(400, batch(`[]`))
	a.must(400, batch(`[{"operationType":"Move"}]`))
}

// TestBulkHasASessionToken expects the token of the last operation that has one.
func TestBulkHasASessionToken(t *testing.T) {
	a := newBlog(t, Options{})
	got := a.must(207, a.send("POST", docs, `[{"operationType":"Create","resourceBody":{"id":"a","postId":"p"}},{"operationType":"Create","resourceBody":{"postId":"p"}}]`,
		"pk", "p", "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "False"))
	if token := got.header.Get("X-Ms-Session-Token"); token != "0:-1#1" {
		t.Errorf("the token %q", token)
	}
}

func TestSessionTokens(t *testing.T) {
	a := newBlog(t, Options{})
	token := a.create("p1", `{"id":"a","postId":"p1"}`).header.Get("X-Ms-Session-Token")
	a.must(200, a.send("GET", docs+"/a", "", "pk", "p1", "x-ms-session-token", token))
	ahead := a.must(404, a.send("GET", docs+"/a", "", "pk", "p1", "x-ms-session-token", "0:-1#99999"))
	if ahead.header.Get("X-Ms-Substatus") != "1002" {
		t.Errorf("substatus %q", ahead.header.Get("X-Ms-Substatus"))
	}
	for form, status := range map[string]int{
		"0:-1#1#2=1":                 200, // with regional numbers, like the service's
		"0:-1#1#2=99999#3=99999":     200,
		"0:-1#99999#2=1":             404,
		"0:-1#99999#2=1,7:-1#1#2=-1": 404,
		"0:1":                        200,
		"0:99999":                    404,
		"0:-1#x":                     400,
		"0:-1#":                      400,
		"0:-1#1,7:1":                 200,
		"":                           200,
		"FOOBAR":                     400,
		"1:rser":                     400,
		"123foobar":                  400,
		"123#%@#$%":                  400,
		strings.Repeat("23", 99):     400,
		"0:x#1":                      400,
		"0:-1#1#2":                   400,
		"0:-1#1#x=1":                 400,
		"0:-1#1#2=x":                 400,
		"0:-1#1,FOOBAR":              400,
		"0:-1#1,":                    400,
	} {
		if got := a.send("GET", docs+"/a", "", "pk", "p1", "x-ms-session-token", form); got.status != status {
			t.Errorf("the session token %s: %d, want %d", form, got.status, status)
		}
		if got := a.query("p1", `{"query":"SELECT * FROM c"}`, "x-ms-session-token", form); got.status != status {
			t.Errorf("a query with the session token %s: %d, want %d", form, got.status, status)
		}
		if got := a.changes("", "x-ms-session-token", form); got.status != status {
			t.Errorf("the change feed with the session token %s: %d, want %d", form, got.status, status)
		}
	}
}

// TestFillingAPartition checks that no existing item is overlooked when a transaction stops
// looking up items one by one.
func TestFillingAPartition(t *testing.T) {
	a := newBlog(t, Options{})
	create := func(ids ...string) string {
		operations := make([]string, len(ids))
		for i, id := range ids {
			operations[i] = fmt.Sprintf(`{"operationType":"Create","resourceBody":{"id":%q,"postId":"p1"}}`, id)
		}
		return "[" + strings.Join(operations, ",") + "]"
	}
	for _, c := range []struct {
		body   string
		status int
	}{
		{create("a", "b", "c", "a"), 207}, // contains only the transaction's own write
		{create("a", "b", "c"), 200},
		{create("d", "e", "b"), 207},
		{`[{"operationType":"Create","resourceBody":{"id":"d","postId":"p1"}},{"operationType":"Delete","id":"e"}]`, 207},
		{`[{"operationType":"Create","resourceBody":{"id":"d","postId":"p1"}},{"operationType":"Delete","id":"b"},` + create("b")[1:], 200},
	} {
		a.must(c.status, a.send("POST", docs, c.body, "pk", "p1", "x-ms-cosmos-is-batch-request", "True"))
	}
	if got := a.must(200, a.query("p1", `{"query":"SELECT * FROM c"}`)).ids(); strings.Join(got, "") != "abcd" {
		t.Errorf("items %v", got)
	}

	a.create("p2", `{"id":"old","postId":"p2","ttl":10}`)
	a.clock.advance(time.Minute) // expired but not yet purged: its change feed entry must be removed
	a.must(200, a.send("POST", docs, strings.ReplaceAll(create("new", "newer", "old"), "p1", "p2"), "pk", "p2", "x-ms-cosmos-is-batch-request", "True"))
	if err := a.Check(); err != nil {
		t.Error(err)
	}
}

// TestRejectionsHaveASessionToken checks that rejections caused by an item's state carry that
// state's token, as on the service.
func TestRejectionsHaveASessionToken(t *testing.T) {
	a := newBlog(t, Options{})
	token := a.create("p1", `{"id":"a","postId":"p1"}`).header.Get("X-Ms-Session-Token")
	for name, rejected := range map[string]answer{
		"409": a.must(409, a.send("POST", docs, `{"id":"a","postId":"p1"}`, "pk", "p1")),
		"412": a.must(412, a.send("DELETE", docs+"/a", "", "pk", "p1", "If-Match", `"another"`)),
		"404": a.must(404, a.send("DELETE", docs+"/b", "", "pk", "p1")),
	} {
		if got := rejected.header.Get("X-Ms-Session-Token"); got != token {
			t.Errorf("%s has the session token %q, want %q", name, got, token)
		}
	}
	if got := a.must(400, a.send("POST", docs, `{"id":"b","postId":"p2"}`, "pk", "p1")).header.Get("X-Ms-Session-Token"); got != "" {
		t.Errorf("a rejection before any read has the session token %q", got)
	}
}

// TestReadsOfBatches checks the options of reads in a batch: azure-cosmos-dotnet-v3,
// BatchSinglePartitionKeyTests, BatchInvalidSessionTokenAsync and
// BatchSessionTokenPropertiesTestAsync. There, ifMatch of a read acts as ifNoneMatch does
// elsewhere.
func TestReadsOfBatches(t *testing.T) {
	for _, atomic := range []string{"True", "False"} {
		a := newBlog(t, Options{})
		a.create("p", `{"id":"a","postId":"p"}`)
		batch := func(operations, token string) answer {
			return a.send("POST", docs, operations, "pk", "p", "x-ms-cosmos-is-batch-request", "True",
				"x-ms-cosmos-batch-atomic", atomic, "x-ms-session-token", token)
		}
		const read, ahead = `{"operationType":"Read","id":"a"}`, "0:-1#2000"
		got := a.must(404, batch(`[{"operationType":"Create","resourceBody":{"id":"b","postId":"p"}},`+read+`]`, ahead))
		if substatus := got.header.Get("X-Ms-Substatus"); substatus != "1002" {
			t.Errorf("atomic %s: a token ahead is answered with the substatus %q", atomic, substatus)
		}
		a.must(404, a.send("GET", docs+"/b", "", "pk", "p"))
		a.must(200, batch(`[{"operationType":"Upsert","resourceBody":{"id":"a","postId":"p"}}]`, ahead))
		etag := a.must(200, a.send("GET", docs+"/a", "", "pk", "p")).header.Get("Etag")

		for _, c := range []struct {
			condition, etag string
			status          int
		}{
			{"ifMatch", etag, 304},
			{"ifNoneMatch", etag, 304},
			{"ifMatch", `"other"`, 200},
			{"ifNoneMatch", `"other"`, 200},
			{"ifNoneMatch", "*", 304},
			{"ifMatch", "*", 200}, // our belief
		} {
			id := "w" + strconv.Itoa(len(c.etag)) + c.condition
			got := a.must(200+min(7, c.status-200), batch(`[`+read+`,{"operationType":"Read","id":"a","`+c.condition+`":`+strconv.Quote(c.etag)+`},
				{"operationType":"Create","resourceBody":{"id":"`+id+`","postId":"p"}}]`, ""))
			results, _ := got.body.AsArray()
			for i, want := range []int{200, c.status, 201} {
				status, _ := results[i].Get("statusCode").AsNumber()
				if hasBody := !results[i].Get("resourceBody").IsUndefined(); int(status) != want || hasBody == (want == 304) {
					t.Errorf("atomic %s, %s: %s: operation %d: %s", atomic, c.condition, c.etag, i, results[i])
				}
			}
			a.must(200, a.send("GET", docs+"/"+id, "", "pk", "p")) // was committed
		}
	}
}
