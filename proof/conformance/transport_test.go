//go:build ci

package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// TestTransport covers the common parts of requests and responses: addresses, signatures,
// headers, errors.
func TestTransport(t *testing.T) {
	t.Run("account root", testAccountRoot)
	t.Run("locations", testLocations)
	t.Run("http and https", testHTTPS)
	t.Run("escaped paths", testEscapedPaths)
	t.Run("ids are case-sensitive", testCaseSensitive)
	t.Run("resource ids and self links", testResourceIDs)
	t.Run("signatures", testSignatures)
	t.Run("headers", testHeaders)
	t.Run("errors", testErrors)
	t.Run("no region substatus", testNoRegions)
}

func testAccountRoot(t *testing.T) {
	a := open(t)
	for _, path := range []string{"", "/"} {
		request := httptest.NewRequest("GET", a.endpoint, nil)
		request.RequestURI = "" // for a client request
		request.URL.Path = path
		a.sign(request, "", "")
		got := a.must(200, fromSDKs, sendDirect(a, request))
		if level, _ := got.at("userConsistencyPolicy", "defaultConsistencyLevel").(string); level == "" {
			t.Errorf("path %q: no consistency level: %s", path, got.text)
		}
		a.equal("multiple writes", got.at("enableMultipleWriteLocations"), false, assumed)
	}
}

// sendDirect sends a request. For an engine, it calls the handler, because net/http never sends
// an empty path.
func sendDirect(a *account, request *http.Request) reply {
	a.t.Helper()
	if a.engine == nil {
		got, err := a.do(request)
		if err != nil {
			a.t.Fatal(err)
		}
		return got
	}
	handled := *a
	handled.client = &http.Client{Transport: handlerTransport{a.engine}}
	got, err := handled.do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	return got
}

// handlerTransport passes requests to a handler.
type handlerTransport struct{ http.Handler }

func (t handlerTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.ServeHTTP(w, request)
	return w.Result(), nil
}

func testLocations(t *testing.T) {
	a := open(t)
	request, err := http.NewRequest("GET", a.endpoint+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.sign(request, "", "")
	if a.engine != nil {
		request.Host = "another.name.invalid:1234"
	}
	got, err := a.do(request)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"writableLocations", "readableLocations"} {
		locations, _ := got.at(list).([]any)
		if len(locations) == 0 {
			t.Fatalf("no %s: %s", list, got.text)
		}
		endpoint, _ := at(locations[0], "databaseAccountEndpoint").(string)
		if at(locations[0], "name") == nil || a.engine != nil && endpoint != "http://another.name.invalid:1234/" {
			t.Errorf("%s: %v", list, locations[0])
		}
	}
}

func testHTTPS(t *testing.T) {
	a := open(t)
	ways := []*account{a}
	if a.engine != nil {
		ways = append(ways, a.overTLS())
	}
	for _, way := range ways {
		way.must(200, documented, way.send("GET", way.path(), ""))
		if _, err := way.azcosmos(nil).Read(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
}

func testEscapedPaths(t *testing.T) {
	a := open(t)
	for _, id := range []string{"a b", "é日😀", "a+b=c,d:e@f", "50%", "5%x", "(x)[y]{z}^!_~$"} {
		a.create("p", fmt.Sprintf(`{"id":%q,"pk":"p"}`, id))
		a.equal("id", a.must(200, fromSDKs, a.send("GET", a.docs()+"/"+id, "", "pk", "p")).at("id"), id, fromSDKs)
		a.must(204, fromSDKs, a.send("DELETE", a.docs()+"/"+id, "", "pk", "p"))
	}
	for _, id := range []string{"a%20b", "a%2Fb", "end%20", "%E9%B1%80", "%25", "%%%de"} { // the gateway decodes twice
		item := fmt.Sprintf(`{"id":%q,"pk":"p"}`, id)
		a.create("p", item)
		for method, body := range map[string]string{"GET": "", "PUT": item, "PATCH": `[{"op":"set","path":"/n","value":1}]`, "DELETE": ""} {
			a.must(401, fromSDKs, a.send(method, a.docs()+"/"+id, body, "pk", "p"))
		}
		container := a.azcosmos(nil)
		_, err := container.ReadItem(t.Context(), azcosmos.NewPartitionKeyString("p"), id, nil)
		if refusal, ok := errors.AsType[*azcore.ResponseError](err); !ok || refusal.StatusCode != 401 {
			t.Errorf("azcosmos reads %s: %v", id, err)
		}
		batch := container.NewTransactionalBatch(azcosmos.NewPartitionKeyString("p")) // has the id in its body
		batch.ReadItem(id, nil)
		batch.DeleteItem(id, nil)
		if answer, err := container.ExecuteTransactionalBatch(t.Context(), batch, nil); err != nil || !answer.Success {
			t.Errorf("a batch with %s: %v", id, err)
		}
	}
}

func testCaseSensitive(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"One","pk":"p"}`)
	a.create("p", `{"id":"one","pk":"p"}`)
	a.create("P", `{"id":"one","pk":"P"}`)
	a.must(404, documented, a.send("GET", a.docs()+"/ONE", "", "pk", "p"))
}

// testResourceIDs covers SDKs that use the _self of a resource. Java and .NET also read ranges
// that way, and sign with the last resource id alone.
func testResourceIDs(t *testing.T) {
	a := open(t)
	item := a.create("p", `{"id":"one","pk":"p"}`)
	procedure := a.script("sprocs", "echo", "function () { getContext().getResponse().setBody(1); }", "")
	container := a.must(200, documented, a.send("GET", a.path(), ""))
	database := a.must(200, documented, a.send("GET", "dbs/"+a.database, ""))
	for _, c := range []struct {
		of                   reply
		method, kind, suffix string // suffix of the link
	}{
		{database, "GET", "dbs", ""}, {database, "GET", "colls", "colls/"}, {container, "GET", "colls", ""},
		{container, "GET", "pkranges", "pkranges/"}, {container, "GET", "docs", "docs/"}, {item, "GET", "docs", ""},
		{procedure, "GET", "sprocs", ""}, {procedure, "POST", "sprocs", ""},
	} {
		got := a.must(200, fromSDKs, a.bySelf(c.method, c.of, c.kind, c.suffix, ""))
		if c.method == "GET" && c.suffix == "" {
			a.equal(got.what, got.at("id"), c.of.at("id"), documented)
		}
	}
	a.must(201, fromSDKs, a.bySelf("POST", container, "docs", "docs/", `{"id":"two","pk":"p"}`))
	a.must(404, fromSDKs, a.send("GET", a.docs()+"/"+fmt.Sprint(item.at("_rid")), "", "pk", "p")) // read as a name, not as a resource id
}

// bySelf sends a request to a resource's _self link with a suffix.
func (a *account) bySelf(method string, of reply, kind, suffix, body string) reply {
	a.t.Helper()
	self, _ := of.at("_self").(string)
	rid, _ := of.at("_rid").(string)
	request, err := http.NewRequest(method, a.endpoint+"/"+self+suffix, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	a.sign(request, kind, strings.ToLower(rid))
	setHeaders(request, []string{"pk", "p"})
	got, err := a.do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	return got
}

func testSignatures(t *testing.T) {
	a := open(t)
	request := func(change func(*http.Request)) reply {
		request, err := http.NewRequest("GET", a.endpoint+"/"+a.path(), nil)
		if err != nil {
			t.Fatal(err)
		}
		a.sign(request, "colls", a.path())
		change(request)
		got, err := a.do(request)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	a.must(200, fromSDKs, request(func(r *http.Request) { // .NET escapes in lower case
		r.Header.Set("Authorization", smallEscapes(r.Header.Get("Authorization")))
	}))
	a.rejected(401, "", documented, request(func(r *http.Request) { r.Header.Del("Authorization") }))
	a.must(401, documented, request(func(r *http.Request) { r.Header.Set("Authorization", "type%3Dmaster%26ver%3D1.0%26sig%3Dbm8%3D") }))
	a.must(401, documented, request(func(r *http.Request) { r.Header.Set("x-ms-date", "Thu, 01 Jan 2026 00:00:00 GMT") }))
	a.must(401, documented, request(func(r *http.Request) { r.Header.Set("Authorization", "type%3Dresource%26ver%3D1.0%26sig%3Dbm8%3D") }))
}

func smallEscapes(escaped string) string {
	small := []byte(escaped)
	for i := range small {
		if small[i] == '%' {
			copy(small[i:], strings.ToLower(string(small[i:i+3])))
		}
	}
	return string(small)
}

func testHeaders(t *testing.T) {
	a := open(t)
	created := a.create("p", `{"id":"one","pk":"p"}`)
	replies := []reply{
		created,
		a.send("GET", a.docs()+"/one", "", "pk", "p"),
		a.send("PUT", a.docs()+"/one", `{"id":"one","pk":"p"}`, "pk", "p"),
		a.query("p", "SELECT * FROM c"),
		a.send("GET", a.docs(), "", "pk", "p"),
		a.changes(""),
		a.send("GET", a.path(), ""),
	}
	for i, got := range replies {
		what := fmt.Sprint(i, " ", got.what)
		if charge, err := strconv.ParseFloat(got.header.Get("X-Ms-Request-Charge"), 64); err != nil || charge <= 0 {
			t.Errorf("%s: charge %q", what, got.header.Get("X-Ms-Request-Charge"))
		}
		for _, name := range []string{"X-Ms-Activity-Id", "X-Ms-Version", "X-Ms-Gatewayversion", "Date"} {
			if got.header.Get(name) == "" && !(a.engine == nil && name == "X-Ms-Version") {
				t.Errorf("%s: no %s", what, name)
			}
		}
		a.equal(what, strings.HasPrefix(got.header.Get("Content-Type"), "application/json"), true, documented)
		isItem, isFeed := i < 3, i > 2 && i < 6
		if isItem || isFeed { // SDKs store the session token by these headers
			a.equal(what+" path", got.header.Get("X-Ms-Alt-Content-Path"), a.path(), fromSDKs)
			a.equal(what+" resource id", got.header.Get("X-Ms-Content-Path"), a.send("GET", a.path(), "").at("_rid"), fromSDKs)
		}
		if (isItem || isFeed) && got.header.Get("X-Ms-Session-Token") == "" {
			t.Errorf("%s: no session token (%s)", what, documented)
		}
		if isItem && (got.etag() == "" || got.etag() != got.at("_etag")) {
			t.Errorf("%s: etag %q, _etag %v (%s)", what, got.etag(), got.at("_etag"), documented)
		}
		if isFeed {
			a.equal(what+" item count", got.header.Get("X-Ms-Item-Count"), "1", documented)
			a.equal(what+" _count", got.at("_count"), 1, documented)
		}
	}
}

func testErrors(t *testing.T) {
	a := open(t)
	got := a.rejected(404, "", documented, a.send("GET", a.docs()+"/none", "", "pk", "p"))
	a.equal("code", got.at("code"), "NotFound", documented)
	a.equal("phrase", got.phrase, "404 Not Found", documented)
	a.rejected(404, "1003", fromSDKs, a.send("GET", "dbs/"+a.database+"/colls/none/docs/x", "", "pk", "p"))
	a.rejected(404, "1003", assumed, a.send("POST", "dbs/none-such-database/colls", fmt.Sprintf(items, "x")))
	a.create("p", `{"id":"one","pk":"p"}`)
	a.equal("code", a.rejected(409, "", documented, a.send("POST", a.docs(), `{"id":"one","pk":"p"}`, "pk", "p")).at("code"), "Conflict", documented)
	a.equal("code", a.rejected(400, "", documented, a.send("POST", a.docs(), `{"id":`, "pk", "p")).at("code"), "BadRequest", documented)
	if a.engine != nil {
		a.rejected(405, "", engineOnly, a.send("DELETE", a.docs(), ""))
		a.rejected(404, "", engineOnly, a.send("GET", a.path()+"/udfs", ""))
	}
}

// testNoRegions checks the substatus of 403. With 3 or 1008, azcosmos would search for another
// region for two minutes.
func testNoRegions(t *testing.T) {
	a := openEngine(t, "the test uses invalid tokens", cosmostest.Options{Entra: true})
	request, err := http.NewRequest("GET", a.endpoint+"/"+a.path()+"/sprocs", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "type=aad&ver=1.0&sig=a.b.c")
	got, err := a.do(request)
	if err != nil {
		t.Fatal(err)
	}
	a.rejected(403, "5300", fromSDKs, got)
}
