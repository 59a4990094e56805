package engine

import (
	"fmt"
	"testing"

	"cosmosblog/engine/value"
)

func TestItems(t *testing.T) {
	a := newBlog(t, Options{})
	created := a.create("p1", `{"id":"p1","postId":"p1","type":"post","n":1,"_etag":"mine"}`)
	etag := created.header.Get("Etag")
	if got, _ := created.body.Get("_etag").AsString(); got != etag || etag == "" || etag == "mine" {
		t.Errorf("_etag %q, header %q", got, etag)
	}
	a.must(409, a.send("POST", docs, `{"id":"p1","postId":"p1"}`, "pk", "p1"))
	a.must(400, a.send("POST", docs, `{"id":"p1","postId":"p2"}`, "pk", "p1"))
	a.must(400, a.send("POST", docs, `{"postId":"p1"}`, "pk", "p1"))
	a.must(400, a.send("POST", docs, `{"id":"x","postId":"p1"}`))
	a.must(404, a.send("GET", docs+"/p1", "", "pk", "p2"))
	read := a.must(200, a.send("GET", docs+"/p1", "", "pk", "p1"))
	if n, _ := read.body.Get("n").AsNumber(); n != 1 {
		t.Errorf("read %s", read.text)
	}
	a.must(304, a.send("GET", docs+"/p1", "", "pk", "p1", "If-None-Match", etag))
	a.must(412, a.send("PUT", docs+"/p1", `{"id":"p1","postId":"p1","n":2}`, "pk", "p1", "If-Match", `"other"`))
	replaced := a.must(200, a.send("PUT", docs+"/p1", `{"id":"p1","postId":"p1","n":2}`, "pk", "p1", "If-Match", etag))
	if replaced.header.Get("Etag") == etag {
		t.Error("a replace kept the etag")
	}
	a.must(404, a.send("PUT", docs+"/p9", `{"id":"p9","postId":"p1"}`, "pk", "p1"))
	a.must(200, a.send("POST", docs, `{"id":"p1","postId":"p1","n":3}`, "pk", "p1", "x-ms-documentdb-is-upsert", "true"))
	minimal := a.must(201, a.send("POST", docs, `{"id":"p2","postId":"p1"}`, "pk", "p1", "x-ms-documentdb-is-upsert", "true", "Prefer", "return=minimal"))
	if minimal.text != "" || minimal.header.Get("Etag") == "" {
		t.Errorf("minimal: %q", minimal.text)
	}
	patched := a.must(200, a.send("PATCH", docs+"/p1", `{"condition":"from c where c.n = 3","operations":[{"op":"incr","path":"/n","value":4},{"op":"set","path":"/a","value":{"b":[1]}},{"op":"add","path":"/a/b/-","value":2}]}`, "pk", "p1"))
	if n, _ := patched.body.Get("n").AsNumber(); n != 7 || patched.body.Path("a", "b").String() != "[1,2]" {
		t.Errorf("patched %s", patched.text)
	}
	a.must(412, a.send("PATCH", docs+"/p1", `{"condition":"from c where c.n = 3","operations":[{"op":"incr","path":"/n","value":4}]}`, "pk", "p1"))
	a.must(400, a.send("PATCH", docs+"/p1", `{"operations":[{"op":"remove","path":"/nothing"}]}`, "pk", "p1"))
	a.must(412, a.send("PATCH", docs+"/p1", `{"operations":[{"op":"remove","path":"/nothing"}]}`, "pk", "p1", "If-Match", etag))
	a.must(400, a.send("PATCH", docs+"/p1", `{"operations":[{"op":"set","path":"/postId","value":"p2"}]}`, "pk", "p1"))
	a.must(204, a.send("DELETE", docs+"/p1", "", "pk", "p1"))
	a.must(404, a.send("DELETE", docs+"/p1", "", "pk", "p1"))
}

func TestDefinitions(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(409, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(400, a.send("POST", "dbs", `{"id":"a/b"}`))
	a.must(409, a.send("POST", "dbs/blog/colls", blogContainer))
	a.must(404, a.send("POST", "dbs/none/colls", blogContainer))
	a.must(400, a.send("POST", "dbs/blog/colls", `{"id":"x"}`))
	if got := a.must(200, a.send("GET", posts, "")); got.id() != "posts" || got.body.Get("_rid").IsUndefined() {
		t.Errorf("container: %s", got.text)
	}
	a.must(404, a.send("GET", "dbs/blog/colls/none", ""))
	ranges := a.must(200, a.send("GET", posts+"/pkranges", ""))
	if list, _ := ranges.body.Get("PartitionKeyRanges").AsArray(); len(list) != 1 || list[0].Get("id").String() != `"0"` {
		t.Errorf("ranges: %s", ranges.text)
	}
	a.must(304, a.send("GET", posts+"/pkranges", "", "If-None-Match", ranges.header.Get("Etag")))
	a.must(200, a.send("PUT", posts, blogContainer))
	a.must(400, a.send("PUT", posts, `{"id":"posts","partitionKey":{"paths":["/other"],"kind":"Hash","version":2}}`))
	a.create("p1", `{"id":"a","postId":"p1"}`)
	a.must(204, a.send("DELETE", posts, ""))
	a.must(404, a.send("GET", docs+"/a", "", "pk", "p1"))
	a.must(201, a.send("POST", "dbs/blog/colls", blogContainer))
	a.must(404, a.send("GET", docs+"/a", "", "pk", "p1"))
	a.must(204, a.send("DELETE", "dbs/blog", ""))
	a.must(404, a.send("GET", "dbs/blog", ""))
}

func TestOffers(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"auto","partitionKey":{"paths":["/id"],"kind":"Hash","version":2}}`, "x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":4000}`))
	a.must(400, a.send("POST", "dbs/blog/colls", `{"id":"x","partitionKey":{"paths":["/id"],"kind":"Hash","version":2}}`, "x-ms-offer-throughput", "1"))
	of := func(path string) value.Value {
		rid, _ := a.must(200, a.send("GET", path, "")).body.Get("_rid").AsString()
		found := a.must(200, a.send("POST", "offers", `{"query":"SELECT * FROM c WHERE c.offerResourceId = '`+rid+`'"}`, "x-ms-documentdb-query", "True"))
		list, _ := found.body.Get("Offers").AsArray()
		if len(list) != 1 {
			t.Fatalf("offers of %s: %s", path, found.text)
		}
		return list[0]
	}
	if got := of(posts).Path("content", "offerThroughput").String(); got != "400" {
		t.Errorf("by default %s", got)
	}
	auto := of("dbs/blog/colls/auto")
	if got := auto.Path("content", "offerAutopilotSettings", "maxThroughput").String(); got != "4000" {
		t.Errorf("autoscale %s", auto)
	}
	rid, _ := auto.Get("_rid").AsString()
	a.must(200, a.send("PUT", "offers/"+rid, `{"content":{"offerThroughput":500}}`))
	if got := of("dbs/blog/colls/auto"); got.Path("content", "offerThroughput").String() != "500" || !got.Path("content", "offerAutopilotSettings").IsUndefined() {
		t.Errorf("replaced: %s", got)
	}
	a.must(400, a.send("PUT", "offers/"+rid, `{"content":{"offerThroughput":7}}`))
	a.must(204, a.send("DELETE", "dbs/blog/colls/auto", ""))
	a.must(404, a.send("GET", "offers/"+rid, ""))
}

func TestWrongKeyIsRejected(t *testing.T) {
	a := newBlog(t, Options{})
	a.key = []byte("another")
	a.must(401, a.send("GET", "dbs/blog", ""))
}

func TestSortedQueryPages(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 25 {
		a.create("p1", fmt.Sprintf(`{"id":"c%02d","postId":"p1","type":"comment","creationDate":"2026-01-%02d","userId":"u%d"}`, i, 1+i/2, i%3))
		a.create("p2", fmt.Sprintf(`{"id":"c%02d","postId":"p2","type":"comment","creationDate":"2026-01-%02d","userId":"u%d"}`, i, 1+i/2, i%3))
	}
	a.create("p1", `{"id":"p1","postId":"p1","type":"post","creationDate":"2026-01-01"}`)
	text := `{"query":"SELECT * FROM c WHERE c.type = 'comment' AND c.creationDate <= @d AND (c.creationDate < @d OR c.id < @id) ORDER BY c.type, c.creationDate DESC, c.id DESC","parameters":[{"name":"@d","value":"2026-01-11"},{"name":"@id","value":"c21"}]}`
	var got []string
	token := ""
	for pages := 0; pages < 10; pages++ {
		headers := []string{"x-ms-max-item-count", "4"}
		if token != "" {
			headers = append(headers, "x-ms-continuation", token)
		}
		page := a.must(200, a.query("p1", text, headers...))
		got = append(got, page.ids()...)
		if token = page.header.Get("X-Ms-Continuation"); token == "" {
			break
		}
	}
	if len(got) != 21 || got[0] != "c20" || got[20] != "c00" {
		t.Errorf("got %v", got)
	}
	a.must(400, a.query("p1", `{"query":"SELECT * FROM c ORDER BY c.type, c.id"}`))
	a.must(400, a.query("", `{"query":"SELECT * FROM c ORDER BY c.id"}`))
	a.must(400, a.query("", `{"query":"SELECT TOP 1 * FROM c"}`))
	a.must(400, a.query("p1", `{"query":"SELEC * FROM c"}`))
	across := a.must(200, a.query("", `{"query":"SELECT c.postId FROM c WHERE c.userId = 'u1'"}`))
	if len(across.items()) != 16 {
		t.Errorf("across: %s", across.text)
	}
	many := a.must(200, a.query("", `{"query":"SELECT * FROM c WHERE (c.id = 'c01' AND c.postId = 'p1') OR (c.id = 'c02' AND c.postId = 'p2') OR (c.id = 'no' AND c.postId = 'p2')"}`, "x-ms-documentdb-partitionkeyrangeid", "0"))
	if len(many.items()) != 2 {
		t.Errorf("read many: %s", many.text)
	}
	count := a.must(200, a.query("p1", `{"query":"SELECT VALUE COUNT(1) FROM c WHERE c.type = 'comment'"}`))
	if count.body.Get("Documents").String() != "[25]" {
		t.Errorf("count: %s", count.text)
	}
}

func TestChangeFeed(t *testing.T) {
	a := newBlog(t, Options{})
	if got := a.must(304, a.changes("")); got.header.Get("Etag") == "" {
		t.Error("no etag")
	}
	a.create("p1", `{"id":"a","postId":"p1"}`)
	a.create("p2", `{"id":"b","postId":"p2"}`)
	a.create("p1", `{"id":"c","postId":"p1"}`)
	first := a.must(200, a.changes("", "x-ms-max-item-count", "2"))
	if fmt.Sprint(first.ids()) != "[a b]" {
		t.Errorf("first page %v", first.ids())
	}
	a.must(200, a.send("PUT", docs+"/a", `{"id":"a","postId":"p1","n":1}`, "pk", "p1"))
	second := a.must(200, a.changes(first.header.Get("Etag")))
	if fmt.Sprint(second.ids()) != "[c a]" {
		t.Errorf("second page %v", second.ids())
	}
	a.must(304, a.changes(second.header.Get("Etag")))
	a.must(204, a.send("DELETE", docs+"/a", "", "pk", "p1"))
	if all := a.must(200, a.changes("")); fmt.Sprint(all.ids()) != "[b c]" {
		t.Errorf("all %v", all.ids())
	}
}
