package conformance

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/embedded"
)

// basis is what an expectation rests on. It stands in every failure, so that a run against a real account can be read.
type basis string

const (
	documented basis = "documentation"
	ofSDKs     basis = "tests or source of an SDK"
	assumed    basis = "assumed"
	own        basis = "this engine's own" // a documented no, or a hook
)

// account is what is tested: an engine of this process, or an account of the service.
type account struct {
	t         *testing.T
	endpoint  string
	key       string
	client    *http.Client
	engine    *embedded.Engine // nil for an account of the service
	clock     *clock           // the engine's
	sessions  *sessions
	database  string // of the test's container
	container string
}

func newSessions() *sessions { return &sessions{tokens: map[string]string{}} }

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var given = struct{ endpoint, key string }{os.Getenv("COSMOS_CONFORMANCE_ENDPOINT"), os.Getenv("COSMOS_CONFORMANCE_KEY")}

func isGiven() bool { return given.endpoint != "" && given.key != "" }

func TestMain(m *testing.M) {
	if !isGiven() {
		fmt.Println("no account was asked: COSMOS_CONFORMANCE_ENDPOINT and COSMOS_CONFORMANCE_KEY are not set; the embedded engine answers")
	}
	code := m.Run()
	if err := deleteSharedDatabase(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// sharedDatabase is the database of a run against an account: its containers share a throughput.
var sharedDatabase string

func deleteSharedDatabase() error {
	if sharedDatabase == "" {
		return nil
	}
	answer, err := (&account{endpoint: given.endpoint, key: given.key, client: givenClient(), sessions: newSessions()}).try("DELETE", "dbs/"+sharedDatabase, "")
	if err != nil || answer.status != http.StatusNoContent {
		return fmt.Errorf("the database %s could not be deleted: %d %v", sharedDatabase, answer.status, err)
	}
	return nil
}

// givenClient trusts whom every program of the machine does: a file of certificates can be named by SSL_CERT_FILE.
func givenClient() *http.Client { return &http.Client{Timeout: time.Minute} }

// items is the definition of the container that most tests need.
const items = `{"id":%q,"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1,"indexingPolicy":{
	"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"compositeIndexes":[
	[{"path":"/team","order":"ascending"},{"path":"/n","order":"descending"}]]}}`

// open gives the account with an empty container.
func open(t *testing.T) *account {
	t.Helper()
	if !isGiven() {
		return openEngine(t, "", embedded.Options{})
	}
	a := &account{t: t, endpoint: strings.TrimSuffix(given.endpoint, "/"), key: given.key, client: givenClient(), sessions: newSessions()}
	if sharedDatabase == "" {
		name := "conformance-" + strings.ToLower(rand.Text())
		a.must(201, documented, a.send("POST", "dbs", fmt.Sprintf(`{"id":%q}`, name), "x-ms-offer-throughput", "1000"))
		sharedDatabase = name
	}
	a.database, a.container = sharedDatabase, "items-"+strings.ToLower(rand.Text())
	a.must(201, documented, a.send("POST", "dbs/"+a.database+"/colls", fmt.Sprintf(items, a.container)))
	t.Cleanup(func() { a.must(204, documented, a.send("DELETE", a.path(), "")) })
	return a
}

// openEngine gives an engine with options of its own, for a test that would learn nothing from an account: why says what
// it needs. The engine checks itself at the end.
func openEngine(t *testing.T, why string, options embedded.Options) *account {
	t.Helper()
	if isGiven() {
		t.Skipf("left out against an account: %s", why)
	}
	a := &account{t: t, sessions: newSessions(), clock: &clock{now: time.Now()}, database: "blog", container: "items"}
	options.Now = a.clock.Now
	engine, err := embedded.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Check(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	a.engine, a.key = engine, engine.Key()
	a.serve(httptest.NewServer(engine))
	a.must(201, documented, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, documented, a.send("POST", "dbs/blog/colls", fmt.Sprintf(items, a.container)))
	return a
}

func (a *account) serve(server *httptest.Server) {
	a.t.Cleanup(server.Close)
	a.endpoint, a.client = server.URL, server.Client()
}

// overTLS serves the same engine with a certificate, which the clients are told to trust.
func (a *account) overTLS() *account {
	secure := *a
	server := httptest.NewTLSServer(a.engine)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	secure.serve(server)
	secure.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	return &secure
}

// path and docs are those of the test's container.
func (a *account) path() string { return "dbs/" + a.database + "/colls/" + a.container }
func (a *account) docs() string { return a.path() + "/docs" }

// azcosmos gives a client, which sends by transport where one is given. It does not try again by itself what was refused.
func (a *account) azcosmos(transport policy.Transporter) *azcosmos.ContainerClient {
	a.t.Helper()
	if transport == nil {
		transport = a.client
	}
	credential, err := azcosmos.NewKeyCredential(a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(a.endpoint, credential, &azcosmos.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: transport, Retry: policy.RetryOptions{MaxRetries: -1}}})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { client.Close() })
	container, err := client.NewContainer(a.database, a.container)
	if err != nil {
		a.t.Fatal(err)
	}
	return container
}

// create makes an item of a partition.
func (a *account) create(pk, item string) answer {
	a.t.Helper()
	return a.must(201, documented, a.send("POST", a.docs(), item, "pk", pk))
}

// fill makes n items i00, i01, … with the properties pk, n and team.
func (a *account) fill(pk string, n int) {
	a.t.Helper()
	for i := range n {
		a.create(pk, fmt.Sprintf(`{"id":"i%02d","pk":%q,"n":%d,"team":%d}`, i, pk, i, i%3))
	}
}

// query sends a query to one partition, or across them where pk is empty.
func (a *account) query(pk, text string, headers ...string) answer {
	a.t.Helper()
	body, err := json.Marshal(map[string]string{"query": text})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.queryBody(pk, string(body), headers...)
}

func (a *account) queryBody(pk, body string, headers ...string) answer {
	a.t.Helper()
	headers = append([]string{"Content-Type", "application/query+json", "x-ms-documentdb-isquery", "True",
		"x-ms-documentdb-query-enablecrosspartition", "True"}, headers...)
	if pk != "" {
		headers = append(headers, "pk", pk)
	}
	return a.send("POST", a.docs(), body, headers...)
}

// script stores a stored procedure or trigger. more are the properties of a trigger.
func (a *account) script(kind, id, body, more string) answer {
	a.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.must(201, documented, a.send("POST", a.path()+"/"+kind, fmt.Sprintf(`{"id":%q,"body":%s%s}`, id, text, more)))
}

func (a *account) execute(id, arguments string, headers ...string) answer {
	a.t.Helper()
	return a.send("POST", a.path()+"/sprocs/"+id, arguments, append([]string{"pk", "p"}, headers...)...)
}

// changes reads a page of the change feed of range 0.
func (a *account) changes(after string, headers ...string) answer {
	a.t.Helper()
	headers = append([]string{"A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "0"}, headers...)
	if after != "" {
		headers = append(headers, "If-None-Match", after)
	}
	return a.send("GET", a.docs(), "", headers...)
}
