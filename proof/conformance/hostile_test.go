//go:build ci

package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
)

// TestHostile sends invalid requests that no client would send. The server may reject or ignore
// them, but must not fail.
func TestHostile(t *testing.T) {
	t.Run("forged continuations", testForgedContinuations)
	t.Run("invalid parts of ranges", testInvalidParts)
	t.Run("headers", testHostileHeaders)
	t.Run("bodies", testHostileBodies)
}

func testForgedContinuations(t *testing.T) {
	a := openEngine(t, "the test depends on the format of the engine's tokens", cosmostest.Options{})
	a.fill("p", 9)
	for _, text := range []string{"SELECT * FROM c", "SELECT * FROM c ORDER BY c.n", "SELECT * FROM c ORDER BY c.team, c.n DESC", "SELECT DISTINCT VALUE c.team FROM c", "SELECT * FROM c OFFSET 1 LIMIT 5"} {
		token := a.must(200, engineOnly, a.query("p", text, "x-ms-max-item-count", "2")).header.Get("X-Ms-Continuation")
		plain, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"p", "n", "q", "x"} {
			for _, forged := range []any{nil, "", "////", strings.Repeat("A", 4000), -1, 1e300, 1 << 40, []any{}, map[string]any{"skipped": -5, "rows": 1 << 50}} {
				var fields map[string]any
				if err := json.Unmarshal(plain, &fields); err != nil {
					t.Fatal(err)
				}
				fields[member] = forged
				again, err := json.Marshal(fields)
				if err != nil {
					t.Fatal(err)
				}
				got := a.query("p", text, "x-ms-max-item-count", "2", "x-ms-continuation", base64.RawURLEncoding.EncodeToString(again))
				if got.status != 200 && got.status != 400 {
					t.Errorf("%s with %s: %d %s", text, again, got.status, got.text)
				}
			}
		}
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"q":"feed","p":"AAAA","n":{}}`))
	for _, path := range []string{"dbs", "dbs/blog/colls", a.path() + "/sprocs", "offers"} {
		a.must(200, engineOnly, a.send("GET", path, "", "x-ms-continuation", token))
	}
}

func testInvalidParts(t *testing.T) {
	a := openEngine(t, "an account may be stricter", cosmostest.Options{})
	a.fill("p", 3)
	for _, part := range [][2]string{{"3F", "00"}, {"FF", "FF"}, {"00", "00"}, {strings.Repeat("00", 600), "FF"}, {"", strings.Repeat("0", 2000)}} {
		headers := []string{"x-ms-documentdb-partitionkeyrangeid", "0", "x-ms-start-epk", part[0], "x-ms-end-epk", part[1]}
		a.must(200, engineOnly, a.query("", "SELECT * FROM c", headers...))
		a.must(200, engineOnly, a.send("GET", a.docs(), "", headers...))
		if got := a.changes("", headers...); got.status != 304 && got.status != 200 {
			t.Errorf("%v: %d %s", part, got.status, got.text)
		}
	}
	a.rejected(400, "", engineOnly, a.send("GET", a.docs(), "", "x-ms-start-epk", "00"))
}

func testHostileHeaders(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"one","pk":"p"}`)
	for _, header := range [][2]string{
		{"x-ms-documentdb-partitionkey", strings.Repeat("[", 2000)}, {"x-ms-documentdb-partitionkey", `["` + strings.Repeat("x", 5000) + `"]`},
		{"x-ms-session-token", strings.Repeat(",", 5000)}, {"x-ms-session-token", "0:-1#" + strings.Repeat("9", 60)},
		{"x-ms-max-item-count", "99999999999999999999"}, {"x-ms-documentdb-partitionkeyrangeid", strings.Repeat("0", 300)},
		{"If-None-Match", strings.Repeat(`"`, 3000)}, {"x-ms-continuation", strings.Repeat("A", 6000)},
	} {
		for _, got := range []reply{
			a.send("GET", a.docs()+"/one", "", "pk", "p", header[0], header[1]),
			a.query("p", "SELECT * FROM c", header[0], header[1]),
			a.send("GET", a.docs(), "", "A-IM", "Incremental feed", header[0], header[1]),
		} {
			if got.status >= 500 {
				t.Errorf("%s %.40s: %d %s (%s)", header[0], header[1], got.status, got.text, assumed)
			}
		}
	}
}

func testHostileBodies(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"one","pk":"p","list":[1]}`)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, body := range []string{
		``, `null`, `[]`, `7`, `"text"`, deep, `{"id":"two","pk":"p","deep":` + deep + `}`, "{\"id\":\"\xff\",\"pk\":\"p\"}", `{"id":"two","id":"three","pk":"p"}`,
		`{"operations":[{"op":"add","path":"/list/-1","value":1}]}`, `{"operations":[{"op":"add","path":"/list/99999999999999999999","value":1}]}`,
		`{"operations":[{"op":"move","from":"/list","path":"/list/0"}]}`, `{"operations":[{"op":"set","path":"/","value":1}]}`, `{"operations":[null]}`,
		`{"operations":[{"op":"incr","path":"/n","value":1e999}]}`, `{"query":"` + strings.Repeat("(", 5000) + `"}`, `{"query":7}`,
		`[{"operationType":"Patch","id":"one","resourceBody":null}]`, `[null]`, `[[]]`,
	} {
		for what, got := range map[string]reply{
			"create": a.send("POST", a.docs(), body, "pk", "p"), "replace": a.send("PUT", a.docs()+"/one", body, "pk", "p"),
			"patch": a.send("PATCH", a.docs()+"/one", body, "pk", "p"), "query": a.queryBody("p", body), "batch": a.batch("p", body),
			"procedure": a.send("POST", a.path()+"/sprocs", body), "container": a.send("POST", "dbs/"+a.database+"/colls", body), "offer": a.send("PUT", "offers/none", body),
		} {
			if got.status >= 500 {
				t.Errorf("%s %.60s: %d %s (%s)", what, fmt.Sprintf("%q", body), got.status, got.text, assumed)
			}
		}
	}
}
