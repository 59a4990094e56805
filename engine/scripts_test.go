package engine

import (
	"strings"
	"testing"
)

const noOperation = `{"id":"s","body":"function s() {}"}`

// TestScriptManagement checks the operations of SDKs and tools on stored procedures and
// triggers, except execution.
func TestScriptManagement(t *testing.T) {
	for kind, definition := range map[string]string{
		"sprocs":   noOperation,
		"triggers": `{"id":"s","body":"function s() {}","triggerType":"Post","triggerOperation":"All"}`,
	} {
		t.Run(kind, func(t *testing.T) {
			a := newBlog(t, Options{})
			list := map[string]string{"sprocs": "StoredProcedures", "triggers": "Triggers"}[kind]
			all, one := posts+"/"+kind, posts+"/"+kind+"/s"

			a.must(400, a.send("POST", all, definition, "x-ms-documentdb-is-upsert", "True"))
			created := a.must(201, a.send("POST", all, definition))
			for _, name := range []string{"_rid", "_self", "_etag", "_ts", "id", "body"} {
				if created.body.Get(name).IsUndefined() {
					t.Errorf("%s is missing: %s", name, created.text)
				}
			}
			a.must(409, a.send("POST", all, definition))
			for _, found := range []answer{
				a.must(200, a.send("GET", all, "")),
				a.must(200, a.send("POST", all, `{"query":"SELECT * FROM c WHERE c.id = 's'"}`, "x-ms-documentdb-isquery", "True", "Content-Type", "application/query+json")),
			} {
				if text := found.body.Get(list).String(); text != "["+created.text+"]" || found.body.Get("_count").String() != "1" {
					t.Errorf("the list: %s", found.text)
				}
			}
			if read := a.must(200, a.send("GET", one, "")); read.text != created.text {
				t.Errorf("read %s", read.text)
			}

			a.must(412, a.send("PUT", one, definition, "If-Match", `"another"`))
			etag, _ := created.body.Get("_etag").AsString()
			replaced := a.must(200, a.send("PUT", one, definition, "If-Match", etag))
			if replaced.body.Get("_rid").String() != created.body.Get("_rid").String() || replaced.body.Get("_etag").String() == created.body.Get("_etag").String() {
				t.Errorf("replaced %s with %s", created.text, replaced.text)
			}
			a.must(412, a.send("DELETE", one, "", "If-Match", etag))
			a.must(204, a.send("DELETE", one, ""))
			a.must(404, a.send("GET", one, ""))
			a.must(404, a.send("PUT", one, definition))
			a.must(404, a.send("DELETE", one, ""))
		})
	}
}

func TestInvalidScriptsAreRejected(t *testing.T) {
	a := newBlog(t, Options{})
	for _, c := range []struct {
		kind, definition string
		status           int
		message          string
	}{
		{"sprocs", `{"id":"s"}`, 400, "the required properties - 'body; ' - are missing"},
		{"sprocs", `{"body":"function s() {}"}`, 400, ""},
		{"sprocs", `{"id":"a/b","body":"function s() {}"}`, 400, ""},
		{"sprocs", `{"id":"s","body":"` + strings.Repeat("x", 2<<20) + `"}`, 413, ""},
		{"triggers", `{"id":"t"}`, 400, "'body; triggerType; triggerOperation; '"},
		{"triggers", `{"id":"t","body":"x","triggerType":"Before","triggerOperation":"All"}`, 400, "triggerType"},
		{"triggers", `{"id":"t","body":"x","triggerType":"Pre","triggerOperation":"Read"}`, 400, "triggerOperation"},
	} {
		if got := a.must(c.status, a.send("POST", posts+"/"+c.kind, c.definition)); !strings.Contains(got.text, c.message) {
			t.Errorf("%.80s: %s", c.definition, got.text)
		}
	}
	a.must(404, a.send("POST", "dbs/blog/colls/none/sprocs", noOperation))
	a.must(201, a.send("POST", posts+"/sprocs", noOperation))
	a.must(400, a.send("PUT", posts+"/sprocs/s", `{"id":"other","body":"function s() {}"}`))
}

// TestReplacedScriptTakesEffectImmediately checks that an old text never runs after it was
// replaced. Scripts are compiled on execution.
func TestReplacedScriptTakesEffectImmediately(t *testing.T) {
	a := newBlog(t, Options{})
	run := func() answer { return a.send("POST", posts+"/sprocs/s", "[]", "pk", "p1") }
	a.addScript("sprocs", "s", "\ufefffunction s() { __.response.setBody(1) } // with a byte order mark")
	if got := a.must(200, run()); got.text != "1" {
		t.Errorf("first %s", got.text)
	}
	// This script is not compiled yet.
	a.must(200, a.send("PUT", posts+"/sprocs/s", `{"id":"s","body":"function s() {"}`))
	if got := a.must(400, run()); got.header.Get("X-Ms-Substatus") != "65535" || !strings.Contains(got.text, "Encountered exception while compiling Javascript.") {
		t.Errorf("substatus %s: %s", got.header.Get("X-Ms-Substatus"), got.text)
	}
	a.must(200, a.send("PUT", posts+"/sprocs/s", `{"id":"s","body":"function s() { __.response.setBody(2) }"}`))
	if got := a.must(200, run()); got.text != "2" {
		t.Errorf("then %s", got.text)
	}
}
