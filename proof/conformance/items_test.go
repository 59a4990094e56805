//go:build ci

package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// TestItems covers reads and writes of single items.
func TestItems(t *testing.T) {
	t.Run("statuses", testItemStatuses)
	t.Run("return minimal", testReturnMinimal)
	t.Run("etags", testETags)
	t.Run("system properties", testSystemProperties)
	t.Run("partition keys", testPartitionKeys)
	t.Run("patch", testPatch)
	t.Run("rejected patches", testPatchRejected)
	t.Run("session tokens", testSessionTokens)
	t.Run("azcosmos", testItemsByAzcosmos)
}

func testItemStatuses(t *testing.T) {
	a := open(t)
	const item = `{"id":"one","pk":"p"}`
	put := func(id string) reply { return a.send("PUT", a.docs()+"/"+id, `{"id":"`+id+`","pk":"p"}`, "pk", "p") }
	upsert := func(id string) reply {
		return a.send("POST", a.docs(), `{"id":"`+id+`","pk":"p"}`, "pk", "p", "x-ms-documentdb-is-upsert", "True")
	}
	a.create("p", item)
	a.rejected(409, "", documented, a.send("POST", a.docs(), item, "pk", "p"))
	a.create("q", `{"id":"one","pk":"q"}`) // ids are unique only within a partition
	a.must(200, documented, a.send("GET", a.docs()+"/one", "", "pk", "p"))
	a.must(200, documented, put("one"))
	a.must(200, documented, upsert("one"))
	a.must(201, documented, upsert("two"))
	a.must(204, documented, a.send("DELETE", a.docs()+"/two", "", "pk", "p"))
	for _, got := range []reply{
		a.send("GET", a.docs()+"/two", "", "pk", "p"), put("two"), a.send("DELETE", a.docs()+"/two", "", "pk", "p"),
		a.send("PATCH", a.docs()+"/two", `{"operations":[{"op":"set","path":"/a","value":1}]}`, "pk", "p"),
	} {
		a.rejected(404, "", documented, got)
	}
	a.rejected(400, "1001", documented, a.send("POST", a.docs(), `{"id":"three","pk":"other"}`, "pk", "p"))
	a.must(400, documented, a.send("POST", a.docs(), `{"pk":"p"}`, "pk", "p"))
	a.must(400, documented, a.send("POST", a.docs(), item)) // without a partition key
}

func testReturnMinimal(t *testing.T) {
	a := open(t)
	headers := []string{"pk", "p", "Prefer", "return=minimal"}
	for _, got := range []reply{
		a.must(201, documented, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, headers...)),
		a.must(200, documented, a.send("PUT", a.docs()+"/one", `{"id":"one","pk":"p"}`, headers...)),
		a.must(200, documented, a.send("PATCH", a.docs()+"/one", `{"operations":[{"op":"set","path":"/a","value":1}]}`, headers...)),
		a.must(204, documented, a.send("DELETE", a.docs()+"/one", "", headers...)),
	} {
		if got.text != "" {
			t.Errorf("%s: %s", got.what, got.text)
		}
		if got.status != 204 && got.etag() == "" || got.header.Get("X-Ms-Session-Token") == "" {
			t.Errorf("%s: etag %q, session token %q", got.what, got.etag(), got.header.Get("X-Ms-Session-Token"))
		}
	}
}

func testETags(t *testing.T) {
	a := open(t)
	old := a.create("p", `{"id":"one","pk":"p"}`).etag()
	put := func(etag string) reply {
		return a.send("PUT", a.docs()+"/one", `{"id":"one","pk":"p"}`, "pk", "p", "If-Match", etag)
	}
	read := func(etag string) reply {
		return a.send("GET", a.docs()+"/one", "", "pk", "p", "If-None-Match", etag)
	}
	now := a.must(200, documented, put(old)).etag()
	if now == old || !strings.HasPrefix(now, `"`) {
		t.Errorf("etags %s and %s", old, now) // a replace without a change is also a write
	}
	a.rejected(412, "", documented, put(old))
	a.must(412, documented, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, "pk", "p", "If-Match", old, "x-ms-documentdb-is-upsert", "True"))
	a.must(412, documented, a.send("PATCH", a.docs()+"/one", `{"operations":[{"op":"set","path":"/a","value":1}]}`, "pk", "p", "If-Match", old))
	a.must(412, documented, a.send("DELETE", a.docs()+"/one", "", "pk", "p", "If-Match", old))
	a.must(200, documented, put("*"))
	a.must(201, fromSDKs, a.send("POST", a.docs(), `{"id":"two","pk":"p"}`, "pk", "p", "If-Match", old)) // If-Match is ignored
	now = a.must(200, documented, read(old)).etag()
	a.must(304, assumed, read(strings.Trim(now, `"`)))
	if same := a.must(304, documented, read(now)); same.text != "" || same.etag() != now {
		t.Errorf("304 with etag %q and body %q", same.etag(), same.text)
	}
}

func testSystemProperties(t *testing.T) {
	a := open(t)
	got := a.create("p", `{"id":"one","pk":"p","_etag":"mine","_ts":1,"_rid":"mine","_self":"mine","_lsn":7,"_mine":true}`)
	for _, name := range []string{"_etag", "_ts", "_rid", "_self"} {
		if v := got.at(name); v == nil || v == "mine" || v == 1.0 {
			t.Errorf("%s is %v, want a new value", name, v)
		}
	}
	a.equal("_attachments", got.at("_attachments"), "attachments/", documented)
	a.equal("_lsn", got.at("_lsn"), nil, assumed)
	a.equal("_mine", got.at("_mine"), true, assumed)
	again := a.must(200, documented, a.send("PUT", a.docs()+"/one", `{"id":"one","pk":"p"}`, "pk", "p"))
	a.equal("_rid after a replace", again.at("_rid"), got.at("_rid"), documented)
}

func testPartitionKeys(t *testing.T) {
	a := open(t)
	for _, c := range []struct{ header, item string }{
		{`["text"]`, `{"id":"one","pk":"text"}`}, {`["\u00e9 \"quoted\""]`, `{"id":"one","pk":"é \"quoted\""}`}, {`[7.5]`, `{"id":"one","pk":7.5}`}, {`[1e3]`, `{"id":"one","pk":1000}`},
		{`[true]`, `{"id":"one","pk":true}`}, {`[null]`, `{"id":"one","pk":null}`}, {`[{}]`, `{"id":"one"}`}, {`[""]`, `{"id":"one","pk":""}`},
	} {
		key := []string{"x-ms-documentdb-partitionkey", c.header}
		a.must(201, documented, a.send("POST", a.docs(), c.item, key...))
		a.must(200, documented, a.send("GET", a.docs()+"/one", "", key...))
	}
	a.rejected(400, "1001", documented, a.send("POST", a.docs(), `{"id":"two"}`, "x-ms-documentdb-partitionkey", `[null]`))
	for _, header := range []string{`p`, `["a","b"]`, `[["a"]]`} {
		a.must(400, assumed, a.send("GET", a.docs()+"/one", "", "x-ms-documentdb-partitionkey", header))
	}
}

func testPatch(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"one","pk":"p","n":1,"list":[1,3],"old":{"a":1},"from":5,"gone":1}`)
	got := a.must(200, documented, a.send("PATCH", a.docs()+"/one", `{"condition":"from c where c.n = 1","operations":[
		{"op":"add","path":"/list/1","value":2},{"op":"add","path":"/list/-","value":4},{"op":"set","path":"/list/0","value":0},
		{"op":"replace","path":"/old/a","value":{"b":null}},{"op":"incr","path":"/n","value":1.5},{"op":"incr","path":"/m","value":-2},
		{"op":"move","from":"/from","path":"/to"},{"op":"remove","path":"/gone"}]}`, "pk", "p"))
	for name, want := range map[string]string{"list": "[0,2,3,4]", "old": `{"a":{"b":null}}`, "n": "2.5", "m": "-2", "from": "null", "to": "5", "gone": "null"} {
		a.equal(name, got.at(name), want, documented)
	}
	alone := a.must(200, fromSDKs, a.send("PATCH", a.docs()+"/one", `[{"op":"set","path":"/x~1y","value":1}]`, "pk", "p"))
	a.equal("x/y", alone.at("x/y"), 1, assumed)
}

func testPatchRejected(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"one","pk":"p","n":1,"text":"a"}`)
	for operations, c := range map[string]struct {
		status int
		source basis
	}{
		`{"operations":[{"op":"set","path":"/a","value":1}],"condition":"from c where c.n = 2"}`: {412, documented},
		`{"operations":[{"op":"set","path":"/a","value":1}],"condition":"from c wher"}`:          {400, documented},
		`{"operations":[]}`: {400, documented},
		`{"operations":[{"op":"remove","path":"/none"}]}`:                                                                        {400, documented},
		`{"operations":[{"op":"replace","path":"/none","value":1}]}`:                                                             {400, documented},
		`{"operations":[{"op":"set","path":"/none/a","value":1}]}`:                                                               {400, documented},
		`{"operations":[{"op":"incr","path":"/text","value":1}]}`:                                                                {400, documented},
		`{"operations":[{"op":"set","path":"/pk","value":"q"}]}`:                                                                 {400, documented},
		`{"operations":[{"op":"set","path":"/id","value":"two"}]}`:                                                               {400, documented},
		`{"operations":[{"op":"set","path":"/_ts","value":1}]}`:                                                                  {400, documented},
		`{"operations":[{"op":"twist","path":"/a","value":1}]}`:                                                                  {400, documented},
		`{"operations":[` + strings.Repeat(`{"op":"incr","path":"/n","value":1},`, 10) + `{"op":"incr","path":"/n","value":1}]}`: {400, documented},
	} {
		a.must(c.status, c.source, a.send("PATCH", a.docs()+"/one", operations, "pk", "p"))
	}
	a.equal("n", a.send("GET", a.docs()+"/one", "", "pk", "p").at("n"), 1, documented)
}

func testSessionTokens(t *testing.T) {
	a := open(t)
	token := a.create("p", `{"id":"one","pk":"p"}`).header.Get("X-Ms-Session-Token")
	read := func(token string) reply {
		return a.send("GET", a.docs()+"/one", "", "pk", "p", "x-ms-session-token", token)
	}
	a.must(200, documented, read(token))
	if !strings.Contains(token, ":") || !strings.Contains(token, "#") {
		t.Errorf("session token %q (%s)", token, fromSDKs)
	}
	duplicate := a.rejected(409, "", documented, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, "pk", "p"))
	if duplicate.header.Get("X-Ms-Session-Token") == "" {
		t.Errorf("409 without a session token (%s)", fromSDKs)
	}
	if a.engine != nil {
		a.rejected(404, "1002", fromSDKs, read("0:-1#99999999"))
		a.must(400, assumed, read("0:-1#x"))
	}
}

func testItemsByAzcosmos(t *testing.T) {
	a := open(t)
	c, key := a.azcosmos(nil), azcosmos.NewPartitionKeyString("p")
	created, err := c.CreateItem(a.t.Context(), key, []byte(`{"id":"one","pk":"p","n":1}`), &azcosmos.ItemOptions{EnableContentResponseOnWrite: true})
	if err != nil || created.RequestCharge <= 0 || created.ETag == "" || created.SessionToken == nil {
		t.Fatalf("create: %+v %v", created, err)
	}
	operations := azcosmos.PatchOperations{}
	operations.AppendIncrement("/n", 2)
	operations.SetCondition("from c where c.n = 1")
	patched, err := c.PatchItem(a.t.Context(), key, "one", operations, nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := c.ReadItem(a.t.Context(), key, "one", &azcosmos.ItemOptions{SessionToken: patched.SessionToken})
	if err != nil || !strings.Contains(string(read.Value), `"n":3`) {
		t.Errorf("read: %s %v", read.Value, err)
	}
	old := created.ETag
	if _, err := c.DeleteItem(a.t.Context(), key, "one", &azcosmos.ItemOptions{IfMatchEtag: &old}); !strings.Contains(fmt.Sprint(err), "412") {
		t.Errorf("delete with an old etag: %v", err)
	}
}
