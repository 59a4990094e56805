package telemetry_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cosmosblog/internal/telemetry"
)

// operate sends an operation over HTTP, from a client. The operation has an error unless its code
// is empty.
func (a *api) operate(client, name, code string) {
	a.Helper()
	handler := recorded(a.traffic, client, func(w http.ResponseWriter, r *http.Request) {
		e := telemetry.ExchangeOf(r.Context())
		ctx, done := e.Operate(r.Context(), name, "query")
		defer done()
		a.traffic.Sent(ctx, telemetry.Sent{Container: "feed", Operation: "query", Status: 200, Charge: 2})
		if code != "" {
			e.Fail(code, "")
		}
		w.WriteHeader(200)
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	response, err := http.Get(server.URL)
	if err != nil {
		a.Fatal(err)
	}
	response.Body.Close()
}

// Names that one client invents must not replace those of the others.
func TestOneClientCannotTakeAllNames(t *testing.T) {
	a := newAPI(t)
	for i := range 200 {
		a.operate("192.0.2.1", fmt.Sprint("Invented", i), "")
	}
	a.operate("2001:db8::1", "Feed", "")
	for i := range 200 {
		a.operate(fmt.Sprintf("2001:db8:0:1::%x", i), fmt.Sprint("Mine", i), "") // one network
	}
	a.operate("192.0.2.2", "Post", "")
	a.operate("192.0.2.1", "Post", "")
	a.expect(`cosmosblog_operations_total{code="OK",operation="Feed",type="query"} 1`,
		`cosmosblog_operations_total{code="OK",operation="Post",type="query"} 2`,
		`cosmosblog_operations_total{code="OK",operation="Invented49",type="query"} 1`,
		`cosmosblog_operations_total{code="OK",operation="Mine49",type="query"} 1`,
		`cosmosblog_operations_total{code="OK",operation="(other)",type="query"} 300`,
		`cosmosblog_request_charge_total{container="feed",operation="Feed"} 2`,
		`cosmosblog_request_charge_total{container="feed",operation="(other)"} 600`)
}

// Names of operations that never succeed are no labels. Known names keep theirs when they fail.
func TestNamesOfFailedOperations(t *testing.T) {
	a := newAPI(t)
	for i := range 200 {
		a.operate(fmt.Sprint("192.0.2.", i), fmt.Sprint("Invented", i), "NOT_FOUND")
	}
	a.operate("192.0.2.1", "Post", "")
	a.operate("192.0.2.1", "Post", "NOT_FOUND")
	a.expect(`cosmosblog_operations_total{code="OK",operation="Post",type="query"} 1`,
		`cosmosblog_operations_total{code="NOT_FOUND",operation="Post",type="query"} 1`,
		`cosmosblog_operations_total{code="NOT_FOUND",operation="(other)",type="query"} 200`,
		`cosmosblog_request_charge_total{container="feed",operation="Post"} 4`)
	if strings.Contains(a.published(), "Invented") {
		t.Error("an invented name is a label")
	}
}
