package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cosmosblog/engine/query"
)

// TestRejectedAcrossPartitions checks that queries which the gateway cannot answer in one pass
// are rejected, and accepted if WHERE names the partition or the request names a physical range.
func TestRejectedAcrossPartitions(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p", `{"id":"x","postId":"p","n":1}`)
	for _, text := range []string{
		"SELECT * FROM c%s ORDER BY c.n", "SELECT TOP 1 * FROM c%s", "SELECT * FROM c%s OFFSET 0 LIMIT 1",
		"SELECT DISTINCT c.n FROM c%s", "SELECT VALUE COUNT(1) FROM c%s", "SELECT MAX(c.n) AS n FROM c%s",
	} {
		got := a.must(400, a.query("", queryBody(fmt.Sprintf(text, ""))))
		if got.header.Get("X-Ms-Substatus") != "1004" || !strings.Contains(got.text, "can not be directly served by the gateway") {
			t.Errorf("%s: %v %s", text, got.header, got.text)
		}
		if got := a.must(200, a.query("", queryBody(fmt.Sprintf(text, "")), "x-ms-documentdb-partitionkeyrangeid", "0")); len(got.items()) != 1 {
			t.Errorf("%s in a physical range: %s", text, got.text)
		}
		if got := a.must(200, a.query("", queryBody(fmt.Sprintf(text, " WHERE c.postId = 'p'")))); len(got.items()) != 1 {
			t.Errorf("%s in a partition: %s", text, got.text)
		}
	}
}

// TestRejectedOrders checks which orders of several properties two composite indexes support:
// (type, creationDate DESC, id DESC) and its all-ascending variant.
func TestRejectedOrders(t *testing.T) {
	a := newBlog(t, Options{})
	for order, want := range map[string]int{
		"c.type, c.creationDate DESC, c.id DESC":      200,
		"c.type DESC, c.creationDate, c.id":           200,
		"c.type, c.creationDate, c.id":                200,
		"c.type DESC, c.creationDate DESC, c.id DESC": 200,
		"c.type, c.creationDate DESC, c.id":           400,
		"c.type, c.creationDate DESC":                 400,
		"c.creationDate DESC, c.type, c.id DESC":      400,
		"c.creationDate, c.id":                        400,
		"c.type, c.creationDate, c.id, c.n":           400,
		"c.nothing":                                   200,
	} {
		got := a.must(want, a.query("p", queryBody("SELECT * FROM c ORDER BY "+order)))
		const message = "The order by query does not have a corresponding composite index that it can be served from."
		if want == 400 && !strings.Contains(got.text, message) {
			t.Errorf("%s: %s", order, got.text)
		}
	}
}

// TestRejectedBodies sends invalid and oversized query bodies.
func TestRejectedBodies(t *testing.T) {
	a := newBlog(t, Options{})
	for body, want := range map[string]int{
		"":                           400,
		"{":                          400,
		"[]":                         400,
		`{"parameters":[]}`:          400,
		`{"query":1}`:                400,
		`{"query":""}`:               400,
		queryBody("SELECT VALUE @p"): 400,
		queryBody("SELECT VALUE 1"):  200,
		`{"query":"SELECT VALUE @p","parameters":[{"value":1}]}`:            400,
		`{"query":"SELECT VALUE @p","parameters":[{"name":"p","value":1}]}`: 400,
		// undefined
		`{"query":"SELECT VALUE @p","parameters":[{"name":"@p"}]}`:                                   200,
		queryBody("SELECT VALUE 1 --" + strings.Repeat("x", query.MaxText-len("SELECT VALUE 1 --"))): 200,
		queryBody("SELECT VALUE 1 --" + strings.Repeat("x", query.MaxText)):                          413,
		queryBody("SELECT VALUE " + strings.Repeat("(", query.MaxText/2)):                            400,
		// a comment
		queryBody("SELECT VALUE " + strings.Repeat("-", query.MaxText/2)):              400,
		queryBody("SELECT VALUE " + strings.Repeat("NOT ", query.MaxText/8) + " true"): 400,
	} {
		if got := a.query("p", body); got.status != want {
			t.Errorf("%.60s…: %d, want %d: %.200s", body, got.status, want, got.text)
		}
	}
}

// TestForgedContinuations checks that forged continuations are rejected or harmless.
func TestForgedContinuations(t *testing.T) {
	a := newBlog(t, Options{})
	a.createMany("p", 300, commentOfThree)
	for _, text := range []string{
		"SELECT TOP 290 * FROM c", "SELECT * FROM c ORDER BY c.creationDate", "SELECT TOP 290 * FROM c ORDER BY c.n",
		"SELECT DISTINCT c.creationDate FROM c OFFSET 1 LIMIT 90", "SELECT * FROM c ORDER BY c.type, c.creationDate, c.id",
	} {
		token := a.must(200, a.query("p", queryBody(text), "x-ms-max-item-count", "1")).header.Get("X-Ms-Continuation")
		decoded, err := base64.RawURLEncoding.DecodeString(token)
		var given continuation
		if err == nil {
			err = json.Unmarshal(decoded, &given)
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", text, token, err)
		}
		for _, forge := range []func(c *continuation){
			func(c *continuation) { c.Progress.Taken = -1 << 62 },
			func(c *continuation) { c.Progress.Skipped = -1 << 62 },
			func(c *continuation) { c.Progress.Taken = 1 << 62; c.Progress.Skipped = 1 << 62 },
			func(c *continuation) { c.Progress.After = []byte{0xFF}; c.Progress.Taken = 1 << 40 },
			func(c *continuation) { c.Position = []byte("x") },
			func(c *continuation) { c.Position = nil; c.Progress = query.Progress{} },
		} {
			forged := given
			forge(&forged)
			if got := a.query("p", queryBody(text), "x-ms-continuation", forged.String()); got.status != 200 && got.status != 400 {
				t.Errorf("%s with %+v: %d %s", text, forged, got.status, got.text)
			}
		}
		a.must(400, a.query("p", queryBody(text+" "), "x-ms-continuation", token))
		a.must(400, a.query("p", queryBody(text), "x-ms-continuation", token+"!"))
	}
}
