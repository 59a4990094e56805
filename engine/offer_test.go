package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"cosmosblog/engine/value"
)

// offerOf finds the offer of a database or container like an SDK. It returns undefined if there
// is none.
func (a *account) offerOf(path string) value.Value {
	a.t.Helper()
	rid, _ := a.must(200, a.send("GET", path, "")).body.Get("_rid").AsString()
	found := a.must(200, a.send("POST", "offers", `{"query":"SELECT * FROM root r WHERE r.offerResourceId = @rid","parameters":[{"name":"@rid","value":"`+rid+`"}]}`, "x-ms-documentdb-isquery", "True"))
	list, _ := found.body.Get("Offers").AsArray()
	if len(list) == 0 {
		return value.Undefined
	}
	return list[0]
}

// TestThroughputOfADatabase creates containers that share their database's throughput, and one
// with its own.
func TestThroughputOfADatabase(t *testing.T) {
	fs := vfs.NewMem()
	a := newAccount(t, Options{Dir: "data", FS: fs})
	a.must(201, a.send("POST", "dbs", `{"id":"shared"}`, "x-ms-offer-throughput", "600"))
	a.must(201, a.send("POST", "dbs", `{"id":"scaled"}`, "x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":2000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":10}}}`))
	a.must(201, a.send("POST", "dbs", `{"id":"none"}`))
	a.must(400, a.send("POST", "dbs", `{"id":"no"}`, "x-ms-offer-throughput", "100"))
	a.must(404, a.send("GET", "dbs/no", ""))
	for _, path := range []string{"dbs/shared/colls", "dbs/none/colls"} {
		a.must(201, a.send("POST", path, `{"id":"plain",`+idKey+`}`))
		a.must(201, a.send("POST", path, `{"id":"own",`+idKey+`}`, "x-ms-offer-throughput", "1000"))
	}
	want := map[string]string{ // {}: no throughput
		"dbs/shared":             `{"offerThroughput":600}`,
		"dbs/scaled":             `{"offerThroughput":200,"offerAutopilotSettings":{"maxThroughput":2000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":10}}}}`,
		"dbs/none":               "{}",
		"dbs/shared/colls/plain": "{}",
		"dbs/shared/colls/own":   `{"offerThroughput":1000}`,
		"dbs/none/colls/plain":   `{"offerThroughput":400}`,
	}
	a.offersAre(want)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b := reopen(t, fs, a.Key())
	b.offersAre(want)
	b.must(204, b.send("DELETE", "dbs/shared", ""))
	left, _ := b.must(200, b.send("GET", "offers", "")).body.Get("Offers").AsArray()
	if len(left) != 3 {
		t.Errorf("%d offers of other databases are left", len(left))
	}
}

func (a *account) offersAre(want map[string]string) {
	a.t.Helper()
	for path, content := range want {
		if got := a.offerOf(path).Get("content").String(); got != content {
			a.t.Errorf("%s: %s, want %s", path, got, content)
		}
	}
}

func TestOffersAreReplaced(t *testing.T) {
	a := newBlog(t, Options{})
	offer := a.offerOf(posts)
	self, _ := offer.Get("_self").AsString()
	rid, _ := offer.Get("_rid").AsString()
	if self != "offers/"+rid+"/" || offer.Get("resource").String() != a.must(200, a.send("GET", posts, "")).body.Get("_self").String() {
		t.Errorf("links: %s", offer)
	}
	for _, c := range []struct{ content, want, least string }{
		{`{"offerThroughput":500}`, `{"offerThroughput":500}`, "400"},
		{`{"offerThroughput":400,"offerAutopilotSettings":{"maxThroughput":4000}}`, `{"offerThroughput":400,"offerAutopilotSettings":{"maxThroughput":4000}}`, "1000"},
		{`{"offerThroughput":20000}`, `{"offerThroughput":20000}`, "400"},
	} {
		replaced := a.must(200, a.send("PUT", "offers/"+rid, `{"id":"`+rid+`","offerVersion":"V2","content":`+c.content+`}`))
		read := a.must(200, a.send("GET", "offers/"+rid, ""))
		for _, got := range []answer{replaced, read} {
			if got.body.Get("content").String() != c.want || got.body.Get("offerResourceId").String() != offer.Get("offerResourceId").String() ||
				got.header.Get("X-Ms-Cosmos-Min-Throughput") != c.least || got.header.Get("X-Ms-Offer-Replace-Pending") != "false" {
				t.Errorf("%s: %s, at least %s", c.content, got.text, got.header.Get("X-Ms-Cosmos-Min-Throughput"))
			}
		}
	}
	for _, content := range []string{`{}`, `{"offerThroughput":300}`, `{"offerThroughput":450}`, `{"offerThroughput":400.5}`, `{"offerThroughput":"400"}`,
		`{"offerAutopilotSettings":{}}`, `{"offerAutopilotSettings":{"maxThroughput":1500}}`, `{"offerAutopilotSettings":{"maxThroughput":900}}`} {
		a.must(400, a.send("PUT", "offers/"+rid, `{"content":`+content+`}`))
	}
	a.must(404, a.send("PUT", "offers/none", `{"content":{"offerThroughput":500}}`))
	a.must(400, a.send("POST", "offers", `{"content":{"offerThroughput":500}}`))
}

// TestThroughputLimit creates and raises throughputs up to the account's limit. A shared throughput
// counts once, and autoscale by its maximum (learn.microsoft.com/azure/cosmos-db/
// limit-total-account-throughput).
func TestThroughputLimit(t *testing.T) {
	a := newAccount(t, Options{ThroughputLimit: 3000})
	a.must(201, a.send("POST", "dbs", `{"id":"shared"}`, "x-ms-cosmos-offer-autopilot-settings", `{"maxThroughput":1000}`))
	a.must(201, a.send("POST", "dbs", `{"id":"own"}`))
	for _, name := range []string{"a", "b", "c"} {
		a.must(201, a.send("POST", "dbs/shared/colls", `{"id":"`+name+`",`+idKey+`}`))
	}
	a.must(201, a.send("POST", "dbs/own/colls", `{"id":"a",`+idKey+`}`, "x-ms-offer-throughput", "1600"))
	over := a.must(400, a.send("POST", "dbs/own/colls", `{"id":"b",`+idKey+`}`, "x-ms-offer-throughput", "500"))
	const text = "limit of 3000 RU/s. This operation failed because it would have increased the total throughput to 3100 RU/s."
	if message, _ := over.body.Get("message").AsString(); !strings.Contains(message, text) || over.header.Get("x-ms-substatus") != "1028" {
		t.Errorf("substatus %q: %s", over.header.Get("x-ms-substatus"), message)
	}
	a.must(400, a.send("POST", "dbs", `{"id":"more"}`, "x-ms-offer-throughput", "500"))
	a.must(400, a.send("POST", "dbs/own/colls", `{"id":"b",`+idKey+`}`)) // needs an explicit throughput
	a.must(201, a.send("POST", "dbs/own/colls", `{"id":"b",`+idKey+`}`, "x-ms-offer-throughput", "400"))
	a.changeOffer(400, "dbs/own/colls/a", 1700)
	a.changeOffer(200, "dbs/own/colls/a", 1500)
	a.changeOffer(200, "dbs/own/colls/b", 500)
	a.changeOffer(400, "dbs/own/colls/b", 600)
	a.must(204, a.send("DELETE", "dbs/own/colls/a", ""))
	a.changeOffer(200, "dbs/own/colls/b", 2000)
}

// TestStoredOffers reads the maximum of an autoscaled throughput from offers of this version, and
// of earlier ones, which had it twice.
func TestStoredOffers(t *testing.T) {
	for content, want := range map[string]int{
		`{"offerThroughput":500}`: 500,
		`{"offerThroughput":200,"offerAutopilotSettings":{"maxThroughput":2000}}`:  2000,
		`{"offerThroughput":2000,"offerAutopilotSettings":{"maxThroughput":2000}}`: 2000,
	} {
		o, err := parseOffer([]byte(`{"_rid":"a","content":` + content + `}`))
		if err != nil || o.limit != want {
			t.Errorf("%s: %d, %v, want %d", content, o.limit, err, want)
		}
	}
}

// changeOffer replaces the manual throughput of a resource.
func (a *account) changeOffer(status int, path string, throughput int) {
	a.t.Helper()
	rid, _ := a.offerOf(path).Get("_rid").AsString()
	a.must(status, a.send("PUT", "offers/"+rid, fmt.Sprintf(`{"content":{"offerThroughput":%d}}`, throughput)))
}
