package engine

import (
	"strings"
	"testing"
)

// TestHeaderValues sends known and unknown values of headers, with all kinds of requests
// (dotnet-v3, EmulatorTests/HeadersValidationTests.cs).
func TestHeaderValues(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p", `{"id":"a","postId":"p"}`)
	requests := map[string]func(headers ...string) answer{
		"account":   func(h ...string) answer { return a.send("GET", "", "", h...) },
		"databases": func(h ...string) answer { return a.send("GET", "dbs", "", h...) },
		"container": func(h ...string) answer { return a.send("GET", posts, "", h...) },
		"read":      func(h ...string) answer { return a.send("GET", docs+"/a", "", append(h, "pk", "p")...) },
		"list":      func(h ...string) answer { return a.send("GET", docs, "", append(h, "pk", "p")...) },
		"query":     func(h ...string) answer { return a.query("p", `{"query":"SELECT * FROM c"}`, h...) },
		"upsert": func(h ...string) answer {
			return a.send("POST", docs, `{"id":"a","postId":"p"}`, append(h, "pk", "p", asUpsert, "True")...)
		},
	}
	for name, values := range map[string]map[string]int{
		"x-ms-version":                                 {"2015-01-01": 400, "": 400, "latest": 400, "2018-12-31": 200, "2020-07-15": 200, "2020-11-05": 200, "2024-06-06": 200},
		"x-ms-indexing-directive":                      {`"Invalid Value"`: 400, "Exclude": 200, "include": 200, "Default": 200},
		"x-ms-documentdb-content-serialization-format": {"Not a valid value": 400, "JsonText": 200, "CosmosBinary": 200},
		"x-ms-cosmos-supported-serialization-formats":  {"Not a valid value": 200, ",,": 200, "JsonText, CosmosBinary": 200},
		"x-ms-consistency-level":                       {"Not a valid value": 400, "Strong": 400, "BoundedStaleness": 400, "Session": 200, "ConsistentPrefix": 200, "eventual": 200},
	} {
		for value, status := range values {
			for what, send := range requests {
				if got := send(name, value); got.status != status {
					t.Errorf("%s with %s %s: %d, want %d: %.200s", what, name, value, got.status, status, got.text)
				}
			}
		}
	}
	stronger := a.must(400, requests["read"]("x-ms-consistency-level", "Strong"))
	if !strings.Contains(stronger.text, "ConsistencyLevel Strong specified in the request is invalid when service is configured with consistency level Session.") {
		t.Errorf("a stronger level: %s", stronger.text)
	}
	for level, status := range map[Consistency]int{Strong: 200, BoundedStaleness: 200, Session: 200, ConsistentPrefix: 400, Eventual: 400} {
		a.SetConsistency(level, false)
		a.must(status, requests["read"]("x-ms-consistency-level", "Session"))
	}
	for _, size := range []string{`"Invalid header type"`, "-2", "0"} {
		a.must(400, requests["databases"]("x-ms-max-item-count", size))
	}
}

// TestStateHeaders checks what the answers about one physical range say of it (Azure/
// azure-sdk-for-rust, sdk/data_cosmos/src/operations/get_document.rs).
func TestStateHeaders(t *testing.T) {
	a := newBlog(t, Options{})
	first := a.create("p", `{"id":"a","postId":"p"}`)
	second := a.create("p", `{"id":"b","postId":"p"}`)
	a.addScript("sprocs", "one", `function one() { getContext().getResponse().setBody(1) }`)
	lsn := second.header.Get("Lsn")
	if lsn == "" || lsn == first.header.Get("Lsn") {
		t.Errorf("the writes have the numbers %q and %q", first.header.Get("Lsn"), lsn)
	}
	read := a.must(200, a.send("GET", docs+"/a", "", "pk", "p"))
	if got := read.header.Get("X-Ms-Item-Lsn"); got != first.header.Get("Lsn") {
		t.Errorf("the item has the number %q, want %q", got, first.header.Get("Lsn"))
	}
	for what, got := range map[string]answer{
		"write": second, "read": read, "404": a.must(404, a.send("GET", docs+"/c", "", "pk", "p")), "409": a.must(409, a.send("POST", docs, `{"id":"a","postId":"p"}`, "pk", "p")),
		"query":  a.must(200, a.query("p", `{"query":"SELECT * FROM c"}`)),
		"list":   a.must(200, a.send("GET", docs, "", "pk", "p")),
		"feed":   a.must(200, a.changes("")),
		"batch":  a.must(200, a.send("POST", docs, `[{"operationType":"Read","id":"a"}]`, "pk", "p", "x-ms-cosmos-is-batch-request", "True")),
		"script": a.must(200, a.send("POST", posts+"/sprocs/one", "[]", "pk", "p")),
	} {
		h := got.header
		if h.Get("Lsn") != lsn || h.Get("X-Ms-Documentdb-Partitionkeyrangeid") != "0" || h.Get("X-Ms-Number-Of-Read-Regions") != "0" ||
			h.Get("X-Ms-Session-Token") != "0:-1#"+lsn {
			t.Errorf("%s: number %q of the range %q, token %q, want %s", what, h.Get("Lsn"), h.Get("X-Ms-Documentdb-Partitionkeyrangeid"), h.Get("X-Ms-Session-Token"), lsn)
		}
	}
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"wide",`+idKey+`}`, "x-ms-offer-throughput", "20000"))
	wide := a.must(200, a.send("POST", "dbs/blog/colls/wide/docs", `{"query":"SELECT * FROM c"}`, "x-ms-documentdb-isquery", "true",
		"Content-Type", "application/query+json", "x-ms-documentdb-query-enablecrosspartition", "true"))
	if h := wide.header; h.Get("Lsn") != "" || h.Get("X-Ms-Documentdb-Partitionkeyrangeid") != "" || h.Get("X-Ms-Session-Token") != "0:-1#0,1:-1#0" {
		t.Errorf("several ranges: %v", h)
	}
}

// TestQuotaInfo reads how much a container holds (dotnet-v3,
// EmulatorTests/HeadersValidationTests.cs, ValidateCollectionIndexProgressHeaders;
// apache/openwhisk#4489).
func TestQuotaInfo(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p", `{"id":"a","postId":"p","text":"`+strings.Repeat("x", 3000)+`"}`)
	a.create("p", `{"id":"b","postId":"p"}`)
	a.addScript("sprocs", "one", `function one() {}`)
	plain, asked := a.must(200, a.send("GET", posts, "")), a.must(200, a.send("GET", posts, "", "x-ms-documentdb-populatequotainfo", "True"))
	for name, want := range map[string]string{
		"X-Ms-Resource-Quota": "functions=25;storedProcedures=100;triggers=25;documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;",
		"X-Ms-Resource-Usage": "functions=0;storedProcedures=1;triggers=0;documentSize=0;documentsSize=4;documentsCount=2;collectionSize=4;",
		"X-Ms-Documentdb-Collection-Index-Transformation-Progress": "100",
	} {
		if got := asked.header.Get(name); got != want || plain.header.Get(name) != "" {
			t.Errorf("%s: %q, without asking %q, want %q", name, got, plain.header.Get(name), want)
		}
	}
}
