//go:build ci

package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestOtherSDKs covers requests that SDKs of other languages send differently, according to
// their sources. The SDKs themselves do not run here.
func TestOtherSDKs(t *testing.T) {
	t.Run("query headers", testQueryHeaders)
	t.Run("paths end with a slash", testTrailingSlash)
	t.Run("python/self links", testPythonSelfLinks)
	t.Run("offers", testOffers)
	t.Run("python/change feed of a key", testPythonFeed)
	t.Run("java/change feed", testJavaFeed)
	t.Run("java/read all", testReadFeed)
	t.Run("java and python/read many", testReadManyShapes)
	t.Run("headers without an effect", testIdleHeaders)
	t.Run("dotnet/policy without paths", testPolicyWithoutPaths)
}

// testQueryHeaders covers the header by which each SDK marks a POST as a query.
func testQueryHeaders(t *testing.T) {
	a := open(t)
	a.fill("p", 3)
	const body = `{"query":"SELECT * FROM root r WHERE r.n > 0","parameters":[]}`
	for name, headers := range map[string][]string{
		"azcosmos":        {"Content-Type", "application/query+json", "x-ms-documentdb-query", "True"},
		".NET and Java":   {"Content-Type", "application/query+json", "x-ms-documentdb-isquery", "True", "x-ms-documentdb-query-enablecrosspartition", "True"},
		"Python":          {"Content-Type", "application/query+json", "x-ms-documentdb-isquery", "true", "x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-documentdb-query-parallelizecrosspartitionquery", "True"},
		"with parameters": {"Content-Type", "application/query+json; charset=utf-8", "x-ms-documentdb-isquery", "True"},
	} {
		got := a.must(200, fromSDKs, a.send("POST", a.docs(), body, append(headers, "pk", "p")...))
		a.equal(name, got.ids(), "i01 i02", fromSDKs)
	}
	for _, enable := range []string{"True", "true"} {
		a.must(200, fromSDKs, a.send("POST", a.docs(), body, "Content-Type", "application/query+json", "x-ms-documentdb-isquery", "True", "x-ms-documentdb-query-enablecrosspartition", enable))
	}
}

func testTrailingSlash(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"one","pk":"p"}`)
	for _, path := range []string{a.docs() + "/one", a.docs(), a.path()} {
		request, err := http.NewRequest("GET", a.endpoint+"//"+path+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Path = "/" + path + "/"
		kind, link := signedLink(path)
		a.sign(request, kind, link)
		setHeaders(request, []string{"pk", "p"})
		got, err := a.do(request)
		if err != nil {
			t.Fatal(err)
		}
		a.must(200, fromSDKs, got)
	}
}

// testPythonSelfLinks covers read_item, replace_item and delete_item of Python, which use _self
// if they are passed an item.
func testPythonSelfLinks(t *testing.T) {
	a := open(t)
	item := a.create("p", `{"id":"one","pk":"p"}`)
	by := func(method, body string) reply { return a.bySelf(method, item, "docs", "", body) }
	a.must(200, fromSDKs, by("GET", ""))
	a.must(200, fromSDKs, by("PUT", `{"id":"one","pk":"p","n":1}`))
	a.must(200, fromSDKs, by("PATCH", `{"condition":"from root where root.n = 1","operations":[{"op":"incr","path":"/n","value":1}]}`))
	a.equal("n", a.send("GET", a.docs()+"/one", "", "pk", "p").at("n"), 2, documented)
	a.must(204, fromSDKs, by("DELETE", ""))
	a.must(404, fromSDKs, by("GET", ""))
}

// testOffers covers the ways in which SDKs find a container's throughput.
func testOffers(t *testing.T) {
	a := open(t)
	path := "dbs/" + a.database + "/colls"
	made := a.must(201, documented, a.send("POST", path, `{"id":"offered","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`, "x-ms-offer-throughput", "500"))
	rid, self := fmt.Sprint(made.at("_rid")), fmt.Sprint(made.at("_self"))
	for _, body := range []string{
		fmt.Sprintf(`{"query":"SELECT * FROM root WHERE root.resource=@link","parameters":[{"name":"@link","value":%q}]}`, self),
		fmt.Sprintf(`{"query":"SELECT * FROM root r WHERE r.offerResourceId = @rid","parameters":[{"name":"@rid","value":%q}]}`, rid),
		fmt.Sprintf(`{"query":"SELECT * FROM c WHERE c.offerResourceId = '%s'"}`, rid),
	} {
		found := a.must(200, fromSDKs, a.send("POST", "offers", body, "Content-Type", "application/query+json", "x-ms-documentdb-isquery", "True"))
		list, _ := found.at("Offers").([]any)
		if len(list) != 1 {
			t.Fatalf("%s returns %s", body, found.text)
		}
		offer := a.must(200, fromSDKs, a.send("GET", "offers/"+fmt.Sprint(at(list[0], "_rid")), ""))
		a.equal("throughput", offer.at("content", "offerThroughput"), 500, documented)
	}
	a.must(204, documented, a.send("DELETE", path+"/offered", ""))
}

// testPythonFeed covers Python's change feed of a partition key: it requests the range and the
// key's effective partition key.
func testPythonFeed(t *testing.T) {
	a := open(t)
	a.create("asdf", `{"id":"one","pk":"asdf"}`)
	a.create("other", `{"id":"two","pk":"other"}`)
	const low, high = "208BF1D598F5B63AD5520F04FE58C5E8", "208BF1D598F5B63AD5520F04FE58C5E9" // of "asdf", from the common test data of the SDKs
	got := a.must(200, fromSDKs, a.changes("", "A-IM", "Incremental feed", "x-ms-start-epk", low, "x-ms-end-epk", high))
	a.equal("ids", got.ids(), "one", fromSDKs)
	a.must(304, fromSDKs, a.changes(got.etag(), "A-IM", "Incremental feed", "x-ms-start-epk", low, "x-ms-end-epk", high))
}

// testJavaFeed covers the headers by which Java and .NET specify the type of range.
func testJavaFeed(t *testing.T) {
	a := open(t)
	a.fill("p", 2)
	rid := a.send("GET", a.path(), "").at("_rid")
	got := a.must(200, fromSDKs, a.changes("", "A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", fmt.Sprint(rid, ",0"),
		"x-ms-read-key-type", "EffectivePartitionKeyRange", "x-ms-start-epk", "", "x-ms-end-epk", "FF", "x-ms-max-item-count", "1"))
	a.equal("ids", got.ids(), "i00", fromSDKs)
}

func testReadFeed(t *testing.T) {
	a := open(t)
	a.fill("p", 3)
	page := a.must(200, documented, a.send("GET", a.docs(), "", "pk", "p", "x-ms-max-item-count", "2"))
	a.equal("first page", page.ids(), "i00 i01", documented)
	rest := a.must(200, documented, a.send("GET", a.docs(), "", "pk", "p", "x-ms-max-item-count", "2", "x-ms-continuation", page.header.Get("X-Ms-Continuation")))
	a.equal("second page", rest.ids(), "i02", documented)
	a.equal("items of the range", len(a.must(200, fromSDKs, a.send("GET", a.docs(), "", "x-ms-documentdb-partitionkeyrangeid", "0")).rows()), 3, fromSDKs)
}

// testReadManyShapes covers the queries by which Java, Python and .NET read many items, and by
// which Java reads a whole partition.
func testReadManyShapes(t *testing.T) {
	a := open(t)
	a.fill("p", 3)
	a.fill("q", 3)
	for text, want := range map[string]string{
		`SELECT * FROM c WHERE ( (c.id = @i0 AND  c["pk"] = @p0 ) OR (c.id = @i1 AND  c["pk"] = @p1 ) )`: "i00 i02",
		`SELECT * FROM c WHERE ( c.id = @i0 AND c.pk = @p0 ) OR ( c.id = @i1 AND c.pk = @p1 )`:           "i00 i02",
		`SELECT * FROM c WHERE c.id IN ( @i0, @i1 ) AND c["pk"] = @p0`:                                   "i00 i02",
		`SELECT * FROM c WHERE c["pk"] = @p1`:                                                            "i00 i01 i02",
	} {
		body := fmt.Sprintf(`{"query":%q,"parameters":[{"name":"@i0","value":"i00"},{"name":"@p0","value":"p"},{"name":"@i1","value":"i02"},{"name":"@p1","value":"q"}]}`, text)
		got := a.must(200, fromSDKs, a.queryBody("", body, "x-ms-documentdb-partitionkeyrangeid", "0"))
		ids := strings.Fields(got.ids())
		slices.Sort(ids)
		a.equal(text, strings.Join(ids, " "), want, fromSDKs)
	}
}

func testIdleHeaders(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"one","pk":"p"}`)
	for _, header := range [][2]string{
		{"x-ms-cosmos-sdk-supportedcapabilities", "1"}, {"x-ms-consistency-level", "Session"}, {"x-ms-consistency-level", "Eventual"},
		{"x-ms-documentdb-populatequotainfo", "True"}, {"x-ms-documentdb-responsecontinuationtokenlimitinkb", "1"},
		{"x-ms-cosmos-priority-level", "Low"}, {"x-ms-documentdb-query-enable-scan", "True"}, {"Cache-Control", "no-cache"}, {"x-ms-cosmos-correlated-activityid", "a"},
	} {
		a.must(200, fromSDKs, a.send("GET", a.docs()+"/one", "", "pk", "p", header[0], header[1]))
		a.must(200, fromSDKs, a.query("p", "SELECT * FROM c", header[0], header[1]))
	}
}

// testPolicyWithoutPaths covers .NET, which sends an indexing policy that only holds its mode.
func testPolicyWithoutPaths(t *testing.T) {
	a := open(t)
	path := "dbs/" + a.database + "/colls"
	got := a.must(201, fromSDKs, a.send("POST", path, `{"id":"lean","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"indexingPolicy":{"automatic":true,"indexingMode":"Consistent"}}`))
	a.equal("includedPaths", got.at("indexingPolicy", "includedPaths"), `[{"path":"/*"}]`, fromSDKs)
	a.equal("excludedPaths", got.at("indexingPolicy", "excludedPaths"), `[{"path":"/\"_etag\"/?"}]`, fromSDKs)
	a.must(204, documented, a.send("DELETE", path+"/lean", ""))
}
