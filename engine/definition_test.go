package engine

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/engine/value"
)

// newDatabaseOnly returns an account with the database d and no containers.
func newDatabaseOnly(t *testing.T) *account {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"d"}`))
	return a
}

const idKey = `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`

// TestVersionOneHasOneRange checks containers with version 1 of the partition key. SDKs find the
// range of such a key by a hash that the engine lacks, so clients must never have to choose a
// range.
func TestVersionOneHasOneRange(t *testing.T) {
	a := newDatabaseOnly(t)
	for definition, want := range map[string]int{
		`{"id":"one","partitionKey":{"paths":["/pk"]}}`:                             1,
		`{"id":"named","partitionKey":{"paths":["/pk"],"kind":"Hash","version":1}}`: 1,
		`{"id":"two",` + idKey + `}`:                                                3,
	} {
		created := a.must(201, a.send("POST", "dbs/d/colls", definition, "x-ms-offer-throughput", "30000"))
		if got := created.body.Path("partitionKey", "kind").String(); got != `"Hash"` {
			t.Errorf("%s: the kind is %s", definition, got)
		}
		ranges := a.must(200, a.send("GET", "dbs/d/colls/"+created.id()+"/pkranges", ""))
		if list, _ := ranges.body.Get("PartitionKeyRanges").AsArray(); len(list) != want {
			t.Errorf("%s: %d ranges, want %d", definition, len(list), want)
		}
	}
	a.must(200, a.send("PUT", "dbs/d/colls/one", `{"id":"one","partitionKey":{"paths":["/pk"],"kind":"Hash","version":1}}`))
	a.must(400, a.send("PUT", "dbs/d/colls/one", `{"id":"one",`+idKey+`}`))
	a.must(400, a.send("PUT", "dbs/d/colls/two", `{"id":"two","partitionKey":{"paths":["/pk"]}}`))
	a.must(400, a.send("POST", "dbs/d/colls", `{"id":"three","partitionKey":{"paths":["/pk"],"version":3}}`))
	a.must(400, a.send("POST", "dbs/d/colls", `{"id":"three","partitionKey":{"paths":["/pk"],"kind":"Range"}}`))
}

// TestIndexingPolicyIsCompleted compares a container's definition with the defaults that the
// service adds.
func TestIndexingPolicyIsCompleted(t *testing.T) {
	const whole = `{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}`
	a := newDatabaseOnly(t)
	for i, c := range []struct{ given, want string }{
		{``, whole},
		{`null`, whole},
		{`{}`, whole},
		{`{"indexingMode":"Consistent"}`, whole},
		{`{"automatic":true,"includedPaths":[],"excludedPaths":[]}`, whole},
		{`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/text/*"}]}`, `{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/text/*"},{"path":"/\"_etag\"/?"}]}`},
		{`{"includedPaths":[{"path":"/n/?"}],"excludedPaths":[{"path":"/*"}]}`, `{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/n/?"}],"excludedPaths":[{"path":"/*"},{"path":"/\"_etag\"/?"}]}`},
		{`{"includedPaths":[{"path":"/*"},{"path":"/n/?"},{"path":"/\"_etag\"/?"}]}`, `{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"},{"path":"/n/?"},{"path":"/\"_etag\"/?"}],"excludedPaths":[]}`},
		{`{"indexingMode":"none","automatic":false}`, `{"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}`},
		{`{"indexingMode":"none"}`, `{"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}`},
		{`{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}]]}`, strings.TrimSuffix(whole, "}") + `,"compositeIndexes":[[{"path":"/a","order":"ascending"},{"path":"/b","order":"descending"}]]}`},
		{`{"spatialIndexes":[]}`, strings.TrimSuffix(whole, "}") + `,"spatialIndexes":[]}`},
	} {
		policy := ""
		if c.given != "" {
			policy = `,"indexingPolicy":` + c.given
		}
		path := fmt.Sprintf("dbs/d/colls/c%d", i)
		definition := fmt.Sprintf(`{"id":"c%d",%s%s}`, i, idKey, policy)
		created := a.must(201, a.send("POST", "dbs/d/colls", definition))
		replaced := a.must(200, a.send("PUT", path, definition))
		read := a.must(200, a.send("GET", path, ""))
		for what, got := range map[string]answer{"created": created, "replaced": replaced, "read": read} {
			if got := got.body.Get("indexingPolicy").String(); got != c.want {
				t.Errorf("%s: %s with %s, want %s", c.given, what, got, c.want)
			}
		}
	}
	for _, policy := range []string{
		`"consistent"`, `{"indexingMode":"eager"}`, `{"indexingMode":1}`, `{"includedPaths":"/*"}`, `{"includedPaths":["/*"]}`,
		`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/*"}]}`, `{"compositeIndexes":[{"path":"/a"}]}`,
		`{"includedPaths":[{"path":"/*"},{"path":"/n/?"},{"path":"/n/?"}]}`,
		`{"compositeIndexes":[[{"path":"/a"}]]}`, `{"includedPaths":[{"path":"/*"},{"path":"n/?"}]}`, `{"automatic":"yes"}`,
	} {
		a.must(400, a.send("POST", "dbs/d/colls", `{"id":"no",`+idKey+`,"indexingPolicy":`+policy+`}`))
	}
}

func TestDefinitionPages(t *testing.T) {
	a := newDatabaseOnly(t)
	for _, name := range []string{"e", "c", "a", "b"} {
		a.must(201, a.send("POST", "dbs/d/colls", `{"id":"`+name+`",`+idKey+`}`))
		a.must(201, a.send("POST", "dbs", `{"id":"`+name+`"}`))
		a.must(201, a.send("POST", "dbs/d/colls/e/sprocs", `{"id":"`+name+`","body":"function f() {}"}`))
	}
	lists := map[string]string{"dbs": "Databases", "dbs/d/colls": "DocumentCollections", "dbs/d/colls/e/sprocs": "StoredProcedures"}
	for path, property := range lists {
		for _, size := range []string{"1", "2", "3", "-1"} {
			if got := a.pages("GET", path, property, "", size); got != "abcde" && got != "abce" {
				t.Errorf("%s in pages of %s: %s", path, size, got)
			}
			sorted := `{"query":"SELECT * FROM c WHERE c.id != @id ORDER BY c.id DESC","parameters":[{"name":"@id","value":"b"}]}`
			if got := a.pages("POST", path, property, sorted, size); got != "edca" && got != "eca" {
				t.Errorf("%s, sorted, in pages of %s: %s", path, size, got)
			}
		}
	}
	a.must(400, a.send("GET", "dbs", "", "x-ms-continuation", "of something else"))
	a.must(400, a.send("GET", "dbs", "", "x-ms-max-item-count", "none"))
	count := a.must(200, a.send("POST", "dbs", `{"query":"SELECT VALUE COUNT(1) FROM c"}`, "Content-Type", "application/query+json"))
	if got := count.body.Get("Databases").String(); got != "[5]" {
		t.Errorf("count: %s", got)
	}
}

// pages reads all pages of a list and returns the ids.
func (a *account) pages(method, path, property, body, size string) (ids string) {
	a.t.Helper()
	for token := ""; ; {
		headers := []string{"x-ms-max-item-count", size}
		if body != "" {
			headers = append(headers, "x-ms-documentdb-isquery", "true")
		}
		if token != "" {
			headers = append(headers, "x-ms-continuation", token)
		}
		page := a.must(200, a.send(method, path, body, headers...))
		list, _ := page.body.Get(property).AsArray()
		if size != "-1" && fmt.Sprint(len(list)) > size {
			a.t.Errorf("%s: %d definitions in a page of %s", path, len(list), size)
		}
		for _, definition := range list {
			id, _ := definition.Get("id").AsString()
			ids += id
		}
		if token = page.header.Get("X-Ms-Continuation"); token == "" {
			return ids
		}
	}
}

func TestETagsOfDefinitions(t *testing.T) {
	a := newDatabaseOnly(t)
	const container = "dbs/d/colls/c"
	definition := `{"id":"c",` + idKey + `}`
	a.must(201, a.send("POST", "dbs/d/colls", definition))
	offers := a.must(200, a.send("GET", "offers", ""))
	list, _ := offers.body.Get("Offers").AsArray()
	rid, _ := list[0].Get("_rid").AsString()
	change := map[string]string{container: definition, "offers/" + rid: `{"content":{"offerThroughput":500}}`}
	for _, path := range []string{"dbs/d", container, "offers/" + rid} {
		read := a.must(200, a.send("GET", path, ""))
		etag := read.header.Get("Etag")
		if got, _ := read.body.Get("_etag").AsString(); got != etag || etag == "" {
			t.Errorf("%s: etag header %s, property %s", path, etag, got)
		}
		if same := a.must(304, a.send("GET", path, "", "If-None-Match", etag)); same.text != "" || same.header.Get("Etag") != etag {
			t.Errorf("%s: 304 with %s %q", path, same.header.Get("Etag"), same.text)
		}
		a.must(200, a.send("GET", path, "", "If-None-Match", `"other"`))
		if body, ok := change[path]; ok {
			a.must(412, a.send("PUT", path, body, "If-Match", `"other"`))
			changed := a.must(200, a.send("PUT", path, body, "If-Match", etag))
			a.must(412, a.send("PUT", path, body, "If-Match", etag))
			if changed.header.Get("Etag") == etag || changed.body.Get("_rid").String() != read.body.Get("_rid").String() {
				t.Errorf("%s: the replacement returned %s", path, changed.text)
			}
		}
	}
	for _, path := range []string{container, "dbs/d"} {
		a.must(412, a.send("DELETE", path, "", "If-Match", `"other"`))
		a.must(204, a.send("DELETE", path, "", "If-Match", a.send("GET", path, "").header.Get("Etag")))
		a.must(404, a.send("DELETE", path, ""))
	}
}

// TestUnknownResourcesAreRejected expects 404 for unknown kinds of resources, 405 for
// unsupported verbs, and no details for a wrong key.
func TestUnknownResourcesAreRejected(t *testing.T) {
	a := newDatabaseOnly(t)
	a.must(201, a.send("POST", "dbs/d/colls", `{"id":"c",`+idKey+`}`))
	for _, path := range []string{"nothing", "dbs/d/users", "dbs/d/users/u", "dbs/d/colls/c/udfs", "dbs/d/colls/c/conflicts",
		"dbs/d/colls/c/docs/i/attachments", "dbs/none", "dbs/none/colls", "dbs/d/colls/none", "dbs/d/colls/none/pkranges", "offers/none"} {
		a.must(404, a.send("GET", path, ""))
	}
	for path, methods := range map[string]string{"": "POST PUT DELETE", "dbs": "PUT DELETE PATCH", "dbs/d": "POST PUT PATCH", "dbs/d/colls": "PUT DELETE",
		"dbs/d/colls/c": "POST PATCH", "dbs/d/colls/c/pkranges": "POST PUT DELETE", "offers": "PUT DELETE", "offers/o": "POST DELETE"} {
		for _, method := range strings.Fields(methods) {
			a.must(405, a.send(method, path, "{}"))
		}
	}
	a.must(404, a.send("POST", "dbs/none/colls", `{"id":"c",`+idKey+`}`))
	for _, body := range []string{``, `[]`, `{`, `{}`, `{"id":1}`, `{"id":""}`, `{"id":"a/b"}`, `{"id":"a\\b"}`, `{"id":"a?"}`, `{"id":"a#"}`, `{"id":"a "}`} {
		a.must(400, a.send("POST", "dbs", body))
	}
	a.key = []byte("another")
	for _, path := range []string{"", "dbs", "dbs/d", "dbs/none", "dbs/d/colls", "dbs/d/colls/c", "dbs/d/colls/none", "dbs/d/colls/c/pkranges", "offers"} {
		if got := a.must(401, a.send("GET", path, "")); !strings.Contains(got.text, `"code":"Unauthorized"`) {
			t.Errorf("%s: %s", path, got.text)
		}
	}
	a.must(401, a.send("DELETE", "dbs/d", ""))
}

// TestExcludedLeavesAreNotCounted compares the counts of leaves with those of items without the
// excluded properties.
func TestExcludedLeavesAreNotCounted(t *testing.T) {
	items := []string{`{}`, `{"a":1,"_ts":5,"text":"x"}`, `{"a":[1,{"b":2}],"text":{"a":1,"b":2},"n":{"deep":1,"b":3}}`,
		`{"b":1,"a":[1],"_etag":"e","n":{"b":4}}`}
	for _, policy := range []string{`{}`, `{"excludedPaths":[{"path":"/text/?"},{"path":"/a/*"}]}`,
		`{"excludedPaths":[{"path":"/n/deep/?"}]}`, `{"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}`} {
		resource, err := value.Parse([]byte(`{"id":"c","partitionKey":{"paths":["/id"]},"indexingPolicy":` + policy + `}`))
		if err != nil {
			t.Fatal(err)
		}
		d, err := readDefinition(resource)
		if err != nil {
			t.Fatal(err)
		}
		x := d.excludedPaths()
		for _, textA := range items {
			a, _ := value.Parse([]byte(textA))
			if x.leaves(a) != x.from(a).Leaves() {
				t.Errorf("%s: %s has %d leaves, want %d", policy, a, x.leaves(a), x.from(a).Leaves())
			}
			for _, textB := range items {
				b, _ := value.Parse([]byte(textB))
				if got, want := x.changedLeaves(a, b), value.ChangedLeaves(x.from(a), x.from(b)); got != want {
					t.Errorf("%s: %s and %s differ in %d leaves, want %d", policy, a, b, got, want)
				}
			}
		}
	}
}
