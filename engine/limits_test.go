package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/query"
	"cosmosblog/engine/script"
)

// limitTest is one limit. send sends a request with n of the limited units, for example bytes.
type limitTest struct {
	what    string
	limit   int
	send    func(n int) answer
	within  int // status up to the limit
	beyond  int // status above the limit
	message string
}

const (
	tooLarge = "Request size is too large."
	tooMany  = "Batch request has more operations than what is supported"
)

// TestLimits tests each limit of the service's limits page one below it, at it, and one above it.
func TestLimits(t *testing.T) {
	f := newLimitFixture(t)
	for _, l := range slices.Concat(f.itemLimits(), f.requestLimits(), f.definitionLimits()) {
		for _, n := range []int{l.limit - 1, l.limit, l.limit + 1} {
			got := l.send(n)
			if n <= l.limit && got.status != l.within {
				t.Errorf("%s: status %d for %d: %.300s", l.what, got.status, n, got.text)
			}
			if n > l.limit && (got.status != l.beyond || !strings.Contains(got.text, l.message)) {
				t.Errorf("%s: status %d for %d: %.300s", l.what, got.status, n, got.text)
			}
		}
	}
	for what, got := range map[string]answer{
		"an empty batch": f.batch(0, 0), "an empty patch": f.patch(0), "an empty id": f.create(limitItem("", "")),
		"a ttl of 0": f.create(limitItem("t", `,"ttl":0`)), "a ttl of -2": f.create(limitItem("t", `,"ttl":-2`)),
	} {
		if got.status != 400 {
			t.Errorf("%s: status %d", what, got.status)
		}
	}
}

// limitFixture is an account with the item "probe".
type limitFixture struct {
	*account
	emptySize int // bytes of a stored item with an empty blob
	ids       int
}

func newLimitFixture(t *testing.T) *limitFixture {
	t.Helper()
	f := &limitFixture{account: newBlog(t, Options{Script: script.Options{MaxBody: 100}})}
	f.emptySize = len(f.must(201, f.create(limitItem("probe", `,"blob":""`))).text)
	f.must(200, f.send("PUT", docs+"/probe", limitItem("probe", `,"n":0,"blob":""`), "pk", "p"))
	return f
}

func repeatX(n int) string { return strings.Repeat("x", n) }

func limitItem(id, rest string) string { return fmt.Sprintf(`{"id":%q,"postId":"p"%s}`, id, rest) }

// newID returns an unused id that is as long as "probe".
func (f *limitFixture) newID() string {
	f.ids++
	return fmt.Sprintf("%05d", f.ids)
}

func (f *limitFixture) create(text string) answer { return f.send("POST", docs, text, "pk", "p") }

func (f *limitFixture) patch(operations int) answer {
	text := strings.Repeat(`{"op":"incr","path":"/n","value":1},`, operations)
	return f.send("PATCH", docs+"/probe", `{"operations":[`+strings.TrimSuffix(text, ",")+`]}`, "pk", "p")
}

func (f *limitFixture) batch(operations, padding int) answer {
	text := strings.Repeat(`{"operationType":"Read","id":"probe"},`, operations)
	return f.send("POST", docs, "["+strings.TrimSuffix(text, ",")+strings.Repeat(" ", padding)+"]", "pk", "p",
		"x-ms-cosmos-is-batch-request", "True", "Prefer", "return=minimal")
}

func (f *limitFixture) itemLimits() []limitTest {
	return []limitTest{
		{"bytes of a stored item", maxItemBytes, func(n int) answer {
			return f.create(limitItem(f.newID(), `,"blob":"`+repeatX(n-f.emptySize)+`"`))
		}, 201, 413, tooLarge},
		{"bytes of a replaced item", maxItemBytes, func(n int) answer {
			return f.send("PUT", docs+"/00001", limitItem("00001", `,"blob":"`+repeatX(n-f.emptySize)+`"`), "pk", "p")
		}, 200, 413, tooLarge},
		{"bytes of a patched item", maxItemBytes, func(n int) answer {
			id := f.newID()
			half := len(f.must(201, f.create(limitItem(id, `,"more":"","blob":"`+repeatX(maxItemBytes/2)+`"`))).text)
			return f.send("PATCH", docs+"/"+id, `{"operations":[{"op":"set","path":"/more","value":"`+repeatX(n-half)+`"}]}`, "pk", "p")
		}, 200, 413, tooLarge},
		{"bytes of an id", maxIDBytes, func(n int) answer { return f.create(limitItem(repeatX(n), "")) }, 201, 400, "1 to 1023 bytes"},
		{"bytes of an id in UTF-8", maxIDBytes, func(n int) answer {
			return f.create(limitItem(strings.Repeat("€", n/3-1)+repeatX(n-3*(n/3-1)), ""))
		}, 201, 400, "1 to 1023 bytes"},
		{"bytes of a partition key", maxPartitionKeyBytes, func(n int) answer {
			return f.send("POST", docs, fmt.Sprintf(`{"id":"a","postId":%q}`, repeatX(n)), "pk", repeatX(n))
		}, 201, 400, "exceeds the limit of 2048 bytes"},
		{"levels of an item", 128, func(n int) answer {
			return f.create(limitItem(f.newID(), `,"deep":`+strings.Repeat("[", n-1)+strings.Repeat("]", n-1)))
		}, 201, 400, "128"},
		{"levels of an item around a number", 128, func(n int) answer {
			return f.create(limitItem(f.newID(), `,"deep":`+strings.Repeat("[", n-1)+"1"+strings.Repeat("]", n-1)))
		}, 201, 400, "128"},
		{"levels of an item in a batch", 128, func(n int) answer {
			deep := limitItem(f.newID(), `,"deep":`+strings.Repeat("[", n-1)+"1"+strings.Repeat("]", n-1))
			return f.send("POST", docs, `[{"operationType":"Create","resourceBody":`+deep+`}]`, "pk", "p", "x-ms-cosmos-is-batch-request", "True")
		}, 200, 207, "400"},
		{"levels of a patched item", 128, func(n int) answer {
			id := f.newID()
			f.must(201, f.create(limitItem(id, `,"deep":[]`)))
			return f.send("PATCH", docs+"/"+id, `{"operations":[{"op":"add","path":"/deep/-","value":`+strings.Repeat("[", n-2)+"1"+strings.Repeat("]", n-2)+`}]}`, "pk", "p")
		}, 200, 400, "128"},
		{"seconds to live", maxTTL, func(n int) answer { return f.create(limitItem(f.newID(), fmt.Sprintf(`,"ttl":%d`, n))) }, 201, 400, "ttl"},
	}
}

func (f *limitFixture) requestLimits() []limitTest {
	return []limitTest{
		{"bytes of a request", maxRequestBytes, func(n int) answer {
			text := limitItem(f.newID(), "")
			return f.create(text + strings.Repeat(" ", n-len(text)))
		}, 201, 413, tooLarge},
		{"operations of a batch", maxBatchOperations, func(n int) answer { return f.batch(n, 0) }, 200, 400, tooMany},
		{"bytes of a batch", maxRequestBytes, func(n int) answer { return f.batch(1, n-len(`[{"operationType":"Read","id":"probe"}]`)) }, 200, 413, tooLarge},
		{"operations of a patch", maxPatchOperations, f.patch, 200, 400, "1 to 10 operations"},
		{"bytes of a query", query.MaxText, func(n int) answer {
			text := "SELECT VALUE 1"
			return f.query("p", fmt.Sprintf(`{"query":%q}`, text+strings.Repeat(" ", n-len(text))))
		}, 200, 413, tooLarge},
		{"bytes of a script's response", 100, func(n int) answer {
			f.send("POST", posts+"/sprocs", `{"id":"body","body":"function s(n) { getContext().getResponse().setBody('x'.repeat(n)) }"}`)
			return f.send("POST", posts+"/sprocs/body", fmt.Sprintf("[%d]", n-len(`""`)), "pk", "p")
		}, 200, 413, "too large"},
	}
}

func (f *limitFixture) definitionLimits() []limitTest {
	return []limitTest{
		{"bytes of a database's name", maxNameLength, func(n int) answer { return f.send("POST", "dbs", fmt.Sprintf(`{"id":%q}`, repeatX(n))) }, 201, 400, "255"},
		{"bytes of a container's name", maxNameLength, func(n int) answer {
			return f.send("POST", "dbs/blog/colls", fmt.Sprintf(`{"id":%q,"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`, repeatX(n)))
		}, 201, 400, "255"},
		{"bytes of a script's name", maxNameLength, func(n int) answer {
			return f.send("POST", posts+"/sprocs", fmt.Sprintf(`{"id":%q,"body":"function s() {}"}`, repeatX(n)))
		}, 201, 400, "255"},
		{"paths of a composite index", 8, func(n int) answer {
			var paths []string
			for i := range n {
				paths = append(paths, fmt.Sprintf(`{"path":"/p%d","order":"ascending"}`, i))
			}
			return f.send("POST", "dbs/blog/colls", fmt.Sprintf(`{"id":"index%d","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},
				"indexingPolicy":{"compositeIndexes":[[%s]]}}`, n, strings.Join(paths, ",")))
		}, 201, 400, "2 to 8 paths"},
		{"composite indexes", 100, func(n int) answer {
			return f.send("POST", "dbs/blog/colls", fmt.Sprintf(`{"id":"indexes%d","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},
				"indexingPolicy":{"compositeIndexes":[%s]}}`, n, strings.TrimSuffix(strings.Repeat(`[{"path":"/a"},{"path":"/b"}],`, n), ",")))
		}, 201, 400, "100"},
		{"paths of an indexing policy", 1500, func(n int) answer {
			paths := `{"path":"/*"}`
			for i := range n - 1 {
				paths += fmt.Sprintf(`,{"path":"/p%d/?"}`, i)
			}
			return f.send("POST", "dbs/blog/colls", fmt.Sprintf(`{"id":"paths%d","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},
				"indexingPolicy":{"includedPaths":[%s]}}`, n, paths))
		}, 201, 400, "1500"},
		{"hundreds of RU/s of a container", maxThroughput / throughputStep, func(n int) answer {
			return f.send("POST", "dbs/blog/colls", fmt.Sprintf(`{"id":"ru%d","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`, n),
				"x-ms-offer-throughput", fmt.Sprint(n*throughputStep))
		}, 201, 400, "1000000"},
	}
}

// TestPageLimits requests pages of various sizes and expects limits in rows and in bytes.
func TestPageLimits(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 11 {
		var operations []string
		for j := range maxBatchOperations {
			id := fmt.Sprintf("i%04d", i*maxBatchOperations+j)
			operations = append(operations, fmt.Sprintf(`{"operationType":"Create","resourceBody":{"id":%q,"postId":"p"}}`, id))
		}
		a.must(200, a.send("POST", docs, "["+strings.Join(operations, ",")+"]", "pk", "p", "x-ms-cosmos-is-batch-request", "True"))
	}
	query := `{"query":"SELECT * FROM c"}`
	reads := map[string]func(pk string, headers ...string) answer{
		"query": func(pk string, headers ...string) answer { return a.query(pk, query, headers...) },
		"list": func(pk string, headers ...string) answer {
			return a.send("GET", docs, "", append(headers, "pk", pk)...)
		},
	}
	for name, read := range reads {
		for asked, want := range map[string]int{
			"": defaultPageSize, "1": 1, "99": 99, "999": 999, "1000": 1000, "1001": maxPageSize, "-1": maxPageSize, "2147483647": maxPageSize,
		} {
			var headers []string
			if asked != "" {
				headers = []string{"x-ms-max-item-count", asked}
			}
			got := a.must(200, read("p", headers...))
			if len(got.items()) != want || got.header.Get("X-Ms-Item-Count") != fmt.Sprint(want) {
				t.Errorf("%s: a page with size %q has %d items", name, asked, len(got.items()))
			}
		}
		for _, asked := range []string{"0", "-2", "1.5", "all"} {
			a.must(400, read("p", "x-ms-max-item-count", asked))
		}
	}
	// A page ends with the item that reaches 4 MB.
	const size = maxPageBytes / 4
	for i := range 6 {
		a.create("large", fmt.Sprintf(`{"id":"i%d","postId":"large","blob":%q}`, i, strings.Repeat("x", size)))
	}
	reads["change feed"] = func(pk string, headers ...string) answer { return a.changes("", append(headers, "pk", pk)...) }
	for name, read := range reads {
		if got := a.must(200, read("large")); len(got.items()) != 4 {
			t.Errorf("%s: a page has %d items of slightly more than 1 MB", name, len(got.items()))
		}
	}
}

// TestScriptTimeLimits expects the service's limit of five seconds, the last of which is for an
// orderly end. Other tests, which control time, test the limits themselves.
func TestScriptTimeLimits(t *testing.T) {
	if script.DefaultTimeout != 5*time.Second {
		t.Errorf("the script timeout is %v", script.DefaultTimeout)
	}
	a := newBlog(t, Options{Script: script.Options{Timeout: time.Millisecond}})
	a.must(201, a.send("POST", posts+"/sprocs", `{"id":"endless","body":"function s() { for (;;) {} }"}`))
	late := a.must(408, a.send("POST", posts+"/sprocs/endless", "[]", "pk", "p"))
	if !strings.Contains(late.text, "exceeded maximum alloted time") {
		t.Errorf("got %s", late.text)
	}
}
