//go:build ci

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
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
)

// basis is the source of an expectation. Each failure names it, because a run against a real
// account may contradict it.
type basis string

const (
	documented basis = "documentation"
	fromSDKs   basis = "tests or source of an SDK"
	assumed    basis = "assumed"
	engineOnly basis = "specific to this engine" // a documented limitation, or a hook
)

// account is the account under test: an engine in this process, or an account of the service.
type account struct {
	t         *testing.T
	endpoint  string
	key       string
	client    *http.Client
	engine    *cosmostest.Account   // nil for an account of the service
	clock     *storetest.StillClock // of the engine
	sessions  *sessions
	database  string // database of the test's container
	container string
}

func newSessions() *sessions { return &sessions{tokens: map[string]string{}} }

var configured = struct{ endpoint, key string }{os.Getenv("COSMOS_CONFORMANCE_ENDPOINT"), os.Getenv("COSMOS_CONFORMANCE_KEY")}

func isConfigured() bool { return configured.endpoint != "" && configured.key != "" }

func TestMain(m *testing.M) {
	if !isConfigured() {
		fmt.Println("COSMOS_CONFORMANCE_ENDPOINT and COSMOS_CONFORMANCE_KEY are not set: testing the embedded engine")
	}
	code := m.Run()
	if err := deleteSharedDatabase(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// sharedDatabase is the database of a run against an account. Its containers share their
// throughput.
var sharedDatabase string

func deleteSharedDatabase() error {
	if sharedDatabase == "" {
		return nil
	}
	reply, err := (&account{endpoint: configured.endpoint, key: configured.key, client: configuredClient(), sessions: newSessions()}).try("DELETE", "dbs/"+sharedDatabase, "")
	if err != nil || reply.status != http.StatusNoContent {
		return fmt.Errorf("deleting the database %s: status %d, %v", sharedDatabase, reply.status, err)
	}
	return nil
}

// configuredClient returns a client with the system's root certificates. SSL_CERT_FILE can name
// a file of other certificates.
func configuredClient() *http.Client { return &http.Client{Timeout: time.Minute} }

// items is the definition of the container that most tests use.
const items = `{"id":%q,"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1,"indexingPolicy":{
	"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}],"compositeIndexes":[
	[{"path":"/team","order":"ascending"},{"path":"/n","order":"descending"}]]}}`

// open returns the account under test with an empty container.
func open(t *testing.T) *account {
	t.Helper()
	if !isConfigured() {
		return openEngine(t, "", cosmostest.Options{})
	}
	a := &account{t: t, endpoint: strings.TrimSuffix(configured.endpoint, "/"), key: configured.key, client: configuredClient(), sessions: newSessions()}
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

// openEngine returns an engine with options, for a test that does not apply to an account; why
// states the reason. The engine checks its consistency at the end.
func openEngine(t *testing.T, why string, options cosmostest.Options) *account {
	t.Helper()
	if isConfigured() {
		t.Skipf("skipped against an account: %s", why)
	}
	a := &account{t: t, sessions: newSessions(), clock: storetest.NewStillClock(time.Now()), database: "blog", container: "items"}
	options.Now = a.clock.Now
	engine := cosmostest.New(t, options)
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

// overTLS serves the same engine with a certificate that the client trusts.
func (a *account) overTLS() *account {
	secure := *a
	server := httptest.NewTLSServer(a.engine)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	secure.serve(server)
	secure.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	return &secure
}

// path returns the path of the test's container, and docs that of its items.
func (a *account) path() string { return "dbs/" + a.database + "/colls/" + a.container }
func (a *account) docs() string { return a.path() + "/docs" }

// azcosmos returns a client that does not retry. It sends through transport if that is not nil.
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

func (a *account) create(pk, item string) reply {
	a.t.Helper()
	return a.must(201, documented, a.send("POST", a.docs(), item, "pk", pk))
}

// fill creates n items i00, i01, … with the properties pk, n and team.
func (a *account) fill(pk string, n int) {
	a.t.Helper()
	for i := range n {
		a.create(pk, fmt.Sprintf(`{"id":"i%02d","pk":%q,"n":%d,"team":%d}`, i, pk, i, i%3))
	}
}

// query sends a query to one partition, or across partitions if pk is empty.
func (a *account) query(pk, text string, headers ...string) reply {
	a.t.Helper()
	body, err := json.Marshal(map[string]string{"query": text})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.queryBody(pk, string(body), headers...)
}

func (a *account) queryBody(pk, body string, headers ...string) reply {
	a.t.Helper()
	headers = append([]string{"Content-Type", "application/query+json", "x-ms-documentdb-isquery", "True",
		"x-ms-documentdb-query-enablecrosspartition", "True"}, headers...)
	if pk != "" {
		headers = append(headers, "pk", pk)
	}
	return a.send("POST", a.docs(), body, headers...)
}

// script creates a stored procedure or trigger. more holds the additional properties of a
// trigger.
func (a *account) script(kind, id, body, more string) reply {
	a.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.must(201, documented, a.send("POST", a.path()+"/"+kind, fmt.Sprintf(`{"id":%q,"body":%s%s}`, id, text, more)))
}

func (a *account) execute(id, arguments string, headers ...string) reply {
	a.t.Helper()
	return a.send("POST", a.path()+"/sprocs/"+id, arguments, append([]string{"pk", "p"}, headers...)...)
}

// changes reads a page of the change feed of range 0.
func (a *account) changes(after string, headers ...string) reply {
	a.t.Helper()
	headers = append([]string{"A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "0"}, headers...)
	if after != "" {
		headers = append(headers, "If-None-Match", after)
	}
	return a.send("GET", a.docs(), "", headers...)
}
