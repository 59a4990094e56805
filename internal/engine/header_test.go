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
