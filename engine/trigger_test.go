package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/script"
)

const (
	preTrigger  = "x-ms-documentdb-pre-trigger-include"
	postTrigger = "x-ms-documentdb-post-trigger-include"
	asUpsert    = "x-ms-documentdb-is-upsert"
)

func (a *account) addTrigger(id, when, operation, body string) {
	a.t.Helper()
	a.addScript("triggers", id, body, `,"triggerType":"`+when+`","triggerOperation":"`+operation+`"`)
}

// TestTriggersApplyToTheirOperations checks which triggers a write may name.
func TestTriggersApplyToTheirOperations(t *testing.T) {
	a := newBlog(t, Options{})
	operations := []string{"All", "Create", "Replace", "Upsert", "Delete", "Update"}
	for _, operation := range operations {
		a.addTrigger("pre"+operation, "Pre", operation, `function () {}`)
		a.addTrigger("post"+operation, "Post", operation, `function () {}`)
	}
	write := func(operation string, headers ...string) answer {
		const item = `{"id":"a","postId":"p1"}`
		headers = append(headers, "pk", "p1")
		switch operation {
		case "Create":
			return a.send("POST", docs, item, headers...)
		case "Upsert":
			return a.send("POST", docs, item, append(headers, asUpsert, "True")...)
		case "Replace":
			return a.send("PUT", docs+"/a", item, headers...)
		}
		return a.send("DELETE", docs+"/a", "", headers...)
	}
	for _, operation := range operations {
		for _, done := range []string{"Create", "Upsert", "Replace", "Delete"} {
			fits := operation == "All" || operation == done || operation == "Update" && done == "Replace"
			for header, when := range map[string]string{preTrigger: "pre", postTrigger: "post"} {
				a.send("DELETE", docs+"/a", "", "pk", "p1")
				if done != "Create" {
					a.create("p1", `{"id":"a","postId":"p1"}`)
				}
				before := a.changes("").header.Get("Etag")
				got := write(done, header, when+operation)
				if fits != (got.status < 300) || !fits && (got.status != 400 || a.changes(before).status != 304) {
					t.Errorf("%s trigger for %s on a %s: %d %s", when, operation, done, got.status, got.text)
				}
			}
		}
	}
	a.send("DELETE", docs+"/a", "", "pk", "p1")
	for _, headers := range [][]string{
		{preTrigger, "preAll,preCreate"}, {postTrigger, "postAll, postCreate"}, // two of each
		{preTrigger, "postAll"}, {postTrigger, "preAll"}, // of the wrong type
		{preTrigger, "preAll", postTrigger, "none"},
	} {
		a.must(400, write("Create", headers...))
		a.must(404, a.send("GET", docs+"/a", "", "pk", "p1"))
	}
	a.must(201, write("Create", preTrigger, "preAll", postTrigger, "postCreate"))
	a.must(400, a.send("PATCH", docs+"/a", `{"operations":[{"op":"set","path":"/n","value":1}]}`, "pk", "p1", preTrigger, "preAll"))
}

// TestPreTriggersRewriteItems checks changes that pre-triggers make to an item.
func TestPreTriggersRewriteItems(t *testing.T) {
	for name, c := range map[string]struct {
		statements string
		status     int
		want       string // of the item's property n
	}{
		"request body in place": {`r.getBody().n = 2`, 201, "1"},
		"another property":      {`b.n = r.getOperationType(); r.setBody(b)`, 201, `"Create"`},
		"as text":               {`r.setBody('{"id":"a","postId":"p1","n":3}')`, 201, "3"},
		"by value name":         {`b.n = r.getValue('OperationType').length; r.setValue('Body', b)`, 201, "6"},
		"system properties":     {`b._etag = b._rid = b._self = 'x'; b._ts = 1; b.n = 4; r.setBody(b)`, 201, "4"},
		"from other items":      {`__.readDocument(__.getAltLink() + '/docs/other', function (err, d) { b.n = d.n; r.setBody(b) })`, 201, "5"},
		"another id":            {`b.id = 'b'; r.setBody(b)`, 201, ""},
		"another partition key": {`b.postId = 'p2'; r.setBody(b)`, 400, ""},
		"no id":                 {`delete b.id; r.setBody(b)`, 400, ""},
		"invalid JSON":          {`r.setBody('{')`, 400, ""},
		"a number":              {`r.setBody(1)`, 400, ""},
		"too large":             {`b.x = 'x'.repeat(2 << 20); r.setBody(b)`, 413, ""},
		"has no response":       {`getContext().getResponse()`, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newBlog(t, Options{})
			a.create("p1", `{"id":"other","postId":"p1","n":5}`)
			a.addTrigger("t", "Pre", "All", `function () { var r = getContext().getRequest(), b = r.getBody(); `+c.statements+` }`)
			created := a.must(c.status, a.send("POST", docs, `{"id":"a","postId":"p1","n":1}`, "pk", "p1", preTrigger, "t"))
			if c.want == "" {
				a.must(404, a.send("GET", docs+"/a", "", "pk", "p1"))
				return
			}
			stored := a.must(200, a.send("GET", docs+"/a", "", "pk", "p1"))
			if created.text != stored.text || stored.body.Get("n").String() != c.want || stored.header.Get("Etag") == "x" || strings.Contains(stored.text, `"x"`) {
				t.Errorf("created %s, stored %s", created.text, stored.text)
			}
		})
	}
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	a.addTrigger("t", "Pre", "All", `function () { var r = getContext().getRequest(), b = r.getBody(); b.id = 'b'; r.setBody(b) }`)
	a.must(200, a.send("PUT", docs+"/a", `{"id":"a","postId":"p1"}`, "pk", "p1", preTrigger, "t"))
	a.must(200, a.send("GET", docs+"/b", "", "pk", "p1")) // renamed
}

// TestPostTriggersSetResponseBody checks what post-triggers read, and the responses they set.
func TestPostTriggersSetResponseBody(t *testing.T) {
	for name, c := range map[string]struct{ statements, want string }{
		"unchanged":          {``, ""},
		"the item":           {`var b = r.getBody(); r.setBody([b.id, !!b._rid, b._self.indexOf(__.getSelfLink()) === 0, !!b._etag, b._ts > 0])`, `["a",true,true,true,true]`},
		"the request":        {`r.setBody([getContext().getRequest().getBody(), typeof getContext().getRequest().setBody])`, `[{"id":"a","postId":"p1"},"undefined"]`},
		"the item is stored": {`__.readDocument(__.getAltLink() + '/docs/a', function (err, d) { r.setBody(d._etag === r.getBody()._etag) })`, "true"},
		"a created item":     {`__.createDocument(__.getAltLink(), {id: 'log', postId: 'p1'}, function (err, d) { r.setBody(d.id) })`, `"log"`},
		"failure caught":     {`__.createDocument(__.getAltLink(), {id: 'a', postId: 'p1'}, function (err) { r.setBody(err.number) })`, "409"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newBlog(t, Options{})
			a.addTrigger("t", "Post", "All", `function () { var r = getContext().getResponse(); `+c.statements+` }`)
			created := a.must(201, a.send("POST", docs, `{"id":"a","postId":"p1"}`, "pk", "p1", postTrigger, "t"))
			stored := a.must(200, a.send("GET", docs+"/a", "", "pk", "p1"))
			if want := c.want; created.text != want && (want != "" || created.text != stored.text) {
				t.Errorf("response %s, want %s", created.text, want)
			}
			if created.header.Get("Etag") != stored.header.Get("Etag") {
				t.Errorf("etag %s, stored %s", created.header.Get("Etag"), stored.header.Get("Etag"))
			}
		})
	}
}

// TestPostTriggersRewriteTheirItem checks that a response has the item and etag of the same
// state, even if the trigger wrote the item again.
func TestPostTriggersRewriteTheirItem(t *testing.T) {
	a := newBlog(t, Options{})
	a.addTrigger("t", "Post", "All", `function () {
		var stored = getContext().getResponse().getBody();
		stored.n = 2;
		__.replaceDocument(stored._self, stored);
	}`)
	got := a.must(201, a.send("POST", docs, `{"id":"a","postId":"p1","n":1}`, "pk", "p1", postTrigger, "t"))
	stored := a.must(200, a.send("GET", docs+"/a", "", "pk", "p1"))
	if got.text != stored.text || got.header.Get("Etag") != stored.header.Get("Etag") {
		t.Errorf("response %s %s, stored %s %s", got.header.Get("Etag"), got.text, stored.header.Get("Etag"), stored.text)
	}
}

func TestTriggersWithMinimalResponse(t *testing.T) {
	a := newBlog(t, Options{})
	a.addTrigger("t", "Post", "All", `function () {
		var type = getContext().getRequest().getOperationType();
		var bodies = typeof getContext().getRequest().getBody() + ' ' + typeof getContext().getResponse().getBody();
		__.upsertDocument(__.getAltLink(), { id: 'log', postId: 'p1', type: type, body: bodies });
	}`)
	logged := func() string {
		read := a.must(200, a.send("GET", docs+"/log", "", "pk", "p1"))
		return read.body.Get("type").String() + read.body.Get("body").String()
	}
	minimal := a.must(201, a.send("POST", docs, `{"id":"a","postId":"p1"}`, "pk", "p1", postTrigger, "t", "Prefer", "return=minimal"))
	if minimal.text != "" || logged() != `"Create""object undefined"` {
		t.Errorf("response %q, log %s", minimal.text, logged())
	}
	a.must(204, a.send("DELETE", docs+"/a", "", "pk", "p1", postTrigger, "t"))
	if logged() != `"Delete""undefined undefined"` {
		t.Errorf("log %s", logged())
	}
}

// TestTriggersFailWithTheirWrite checks that a write and its triggers are one transaction: if
// one of them fails, nothing is written.
func TestTriggersFailWithTheirWrite(t *testing.T) {
	const writes = `if (!__.createDocument(__.getAltLink(), { id: 'by the trigger', postId: 'p1' })) throw new Error('rejected'); `
	for name, c := range map[string]struct {
		pre, post         string
		status, substatus int
	}{
		"before":                  {pre: writes + `throw new Error(41, 'no')`, status: 400, substatus: 41},
		"behind":                  {pre: writes, post: `throw new Error(42, 'no')`, status: 400, substatus: 42},
		"the write":               {pre: writes + `var r = getContext().getRequest(), b = r.getBody(); b.id = 'old'; r.setBody(b)`, status: 409},
		"an operation":            {post: writes + writes, status: 400},
		"endless loop":            {post: writes + `for (;;) {}`, status: 408},
		"syntax error":            {pre: writes, post: `)`, status: 400, substatus: 65535},
		"response too large":      {post: writes + `getContext().getResponse().setBody('x'.repeat(5 << 20))`, status: 413},
		"reads another container": {post: writes + `__.readDocument('dbs/blog/colls/feed/docs/a')`, status: 400, substatus: 400},
	} {
		t.Run(name, func(t *testing.T) {
			options := script.Options{Budget: time.Hour}
			if c.status == 408 {
				options.Timeout = 30 * time.Millisecond
			}
			a := newBlog(t, Options{Script: options})
			old := a.create("p1", `{"id":"old","postId":"p1"}`)
			before := a.changes("").header.Get("Etag")
			a.addTrigger("pre", "Pre", "All", `function () { `+c.pre+` }`)
			a.addTrigger("post", "Post", "All", `function () { `+c.post+` }`)
			got := a.must(c.status, a.send("POST", docs, `{"id":"a","postId":"p1"}`, "pk", "p1", preTrigger, "pre", postTrigger, "post"))
			if substatus := got.header.Get("X-Ms-Substatus"); c.substatus != 0 && substatus != fmt.Sprint(c.substatus) || c.substatus == 0 && substatus != "" {
				t.Errorf("substatus %s: %s", substatus, got.text)
			}
			a.must(304, a.changes(before))
			if read := a.must(200, a.send("GET", docs+"/old", "", "pk", "p1")); read.text != old.text || a.idsInP1() != "old" {
				t.Errorf("items %s", a.idsInP1())
			}
		})
	}
}

// TestTriggersAreChargedWithTheirWrite checks that triggers are charged with their write and
// appear under its number in the change feed.
func TestTriggersAreChargedWithTheirWrite(t *testing.T) {
	a := newBlog(t, Options{})
	before := a.changes("").header.Get("Etag")
	a.addTrigger("pre", "Pre", "Create", `function () { __.createDocument(__.getAltLink(), { id: 'b', postId: 'p1' }) }`)
	a.addTrigger("post", "Post", "Create", `function () { __.createDocument(__.getAltLink(), { id: 'c', postId: 'p1' }) }`)
	three := charge(t, a.must(201, a.send("POST", docs, `{"id":"a","postId":"p1"}`, "pk", "p1", preTrigger, "pre", postTrigger, "post")))
	changed := a.must(200, a.changes(before, "x-ms-max-item-count", "1"))
	lsns := map[string]bool{}
	for _, item := range changed.items() {
		lsns[item.Get("_lsn").String()] = true
	}
	if len(changed.items()) != 3 || len(lsns) != 1 {
		t.Errorf("changes %v with numbers %v", changed.ids(), lsns)
	}
	one := charge(t, a.create("p1", `{"id":"d","postId":"p1"}`))
	if want := 3*one + 2*scriptBase; three < want-0.02 || three > want+0.02 {
		t.Errorf("charged %.2f, want %.2f", three, want)
	}
}
