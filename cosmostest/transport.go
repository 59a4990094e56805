package cosmostest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/engine"
	"cosmosblog/internal/inprocess"
)

// Transport is one client's way to an account, with its own faults and a record of its requests. It
// may be used concurrently. It implements azcore's policy.Transporter: any client
// whose options take a transport can use it, with any endpoint, and with the account's key.
//
// Faults and records concern requests to items and executions of stored procedures. Requests to
// definitions, which SDKs send by themselves, always pass.
type Transport struct {
	t    testing.TB // nil outside a test
	next policy.Transporter
	key  string

	mu      sync.Mutex
	records bool // since the first Inject
	fault   Fault
	sent    []*http.Request
}

func newTransport(t testing.TB, handler http.Handler, key string) *Transport {
	return &Transport{t: t, next: inprocess.To(handler), key: key}
}

// Inject lets a fault handle all further requests, and records them anew. If fault is nil, requests
// pass. Before the first Inject, nothing is recorded. From then on, each request is kept with its
// body until the next Inject.
func (t *Transport) Inject(fault Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.records, t.fault, t.sent = true, fault, nil
}

// Requests returns the requests since the last Inject, with those that a fault refused. Body
// returns their bodies.
func (t *Transport) Requests() []*http.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent[:len(t.sent):len(t.sent)]
}

// Do implements policy.Transporter.
func (t *Transport) Do(request *http.Request) (*http.Response, error) {
	if !isOfItems(request) {
		return t.next.Do(request)
	}
	n, fault := t.record(request)
	if fault == nil {
		return t.next.Do(request)
	}
	return fault(n, request, t.next)
}

// record returns the number of a request, and the fault that handles it.
func (t *Transport) record(request *http.Request) (n int, fault Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.records {
		recorded := *request
		recorded.Header = request.Header.Clone()
		recorded.Body = io.NopCloser(bytes.NewReader(Body(request)))
		t.sent = append(t.sent, &recorded)
	}
	return len(t.sent), t.fault
}

// isOfItems reports whether a request is to the items of a container, /dbs/d/colls/c/docs…, or
// executes a procedure.
func isOfItems(request *http.Request) bool {
	return kindOf(request) == "docs" || isExecution(request)
}

// isExecution reports whether a request executes a procedure: a POST to /dbs/d/colls/c/sprocs/s.
func isExecution(request *http.Request) bool {
	return request.Method == http.MethodPost && kindOf(request) == "sprocs" && strings.Count(pathOf(request), "/") == 5
}

// kindOf returns the kind of the resource of a container that a request is to, such as "docs", or
// "".
func kindOf(request *http.Request) string {
	parts := strings.SplitN(pathOf(request), "/", 6)
	if len(parts) < 5 || parts[0] != "dbs" || parts[2] != "colls" {
		return ""
	}
	return parts[4]
}

// pathOf returns the path of a request without slashes at its ends.
func pathOf(request *http.Request) string { return strings.Trim(request.URL.Path, "/") }

// CloseIdleConnections closes the connections to the account's endpoint. With Options.Regions, the
// next one leads to the region that then writes.
func (t *Transport) CloseIdleConnections() {
	if way, ok := t.next.(*regionWay); ok {
		way.CloseIdleConnections()
	}
}

// Client returns an azcosmos client that sends its requests by this transport, until the test ends.
// Outside a test, the caller closes it. options may be nil. azcosmos repeats refused requests, and
// reads whose connection was closed, these after a second; options.Retry bounds the waits after
// refusals. It ends the test of New if the client cannot be created.
func (t *Transport) Client(options *azcosmos.ClientOptions) *azcosmos.Client {
	var o azcosmos.ClientOptions
	if options != nil {
		o = *options
	}
	o.Transport = t
	credential, err := azcosmos.NewKeyCredential(t.key)
	t.require(err)
	client, err := azcosmos.NewClientWithKey(inprocess.NewEndpoint(), credential, &o)
	t.require(err)
	if t.t != nil {
		t.t.Cleanup(client.Close)
	}
	return client
}

// Container returns a container with the partition key of a path such as "/customer". It creates
// the database and the container if they are missing, with the service's defaults. Each call
// returns the container of another Client. It ends the test if the account refuses.
func (t *Transport) Container(database, name, partitionKey string) *azcosmos.ContainerClient {
	ctx, client := context.Background(), t.Client(nil)
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: database}, nil)
	t.requireUnless(http.StatusConflict, err)
	db, err := client.NewDatabase(database)
	t.require(err)
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: name,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: []string{partitionKey}, Kind: azcosmos.PartitionKeyKindHash, Version: 2,
		},
	}, nil)
	t.requireUnless(http.StatusConflict, err)
	container, err := client.NewContainer(database, name)
	t.require(err)
	return container
}

// Serve serves the account on a free port of 127.0.0.1, for SDKs of other languages and for
// processes. A connection is closed where the transport returns an error. The server ends with the
// test; outside a test, it ends with the process.
func (t *Transport) Serve() (endpoint, key string) {
	if _, ok := t.next.(*regionWay); ok {
		t.require(errors.New("cosmostest: an account with Options.Regions cannot be served"))
	}
	server := httptest.NewServer(http.HandlerFunc(t.forward))
	if t.t != nil {
		t.t.Cleanup(func() {
			server.CloseClientConnections() // ends requests that still wait for an answer
			server.Close()
		})
	}
	return server.URL, t.key
}

// forward answers a request of the network by the transport. It reads the body first, because a
// server only then notices that a client has gone, and cancels the context of its request.
func (t *Transport) forward(w http.ResponseWriter, request *http.Request) {
	Body(request)
	response, err := t.Do(request)
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection
	}
	defer response.Body.Close()
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // the client is gone
}

// Send sends a request signed with the account's key, for what azcosmos has no call: registering
// and executing stored procedures and triggers. path is a path of the REST protocol without a slash
// at its start, such as "dbs/d/colls/c/sprocs", with percent-encoded names. headers have the form
// "Name: value". Errors: those of the transport; a status of 400 or more is none.
func (t *Transport) Send(ctx context.Context, method, path, body string, headers ...string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://cosmostest.invalid/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if err := engine.Sign(request, t.key); err != nil {
		return nil, err
	}
	request.Header.Set("X-Ms-Version", "2018-12-31")
	setHeaders(request.Header, headers)
	return t.Do(request)
}

// require ends the test if there is an error, or panics outside a test.
func (t *Transport) require(err error) {
	switch {
	case err == nil:
	case t.t == nil:
		panic(err)
	default:
		t.t.Helper()
		t.t.Fatal(err)
	}
}

// requireUnless is require for an error other than a status.
func (t *Transport) requireUnless(status int, err error) {
	if refusal, ok := errors.AsType[*azcore.ResponseError](err); ok && refusal.StatusCode == status {
		return
	}
	t.require(err)
}

// Body returns the body of a request, which stays readable.
func Body(request *http.Request) []byte {
	if request.Body == nil {
		return nil
	}
	body, _ := io.ReadAll(request.Body) // a broken body is as short as the account would see it
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body
}
