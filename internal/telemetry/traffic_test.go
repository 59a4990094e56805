package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/telemetry"
)

// api is a Traffic whose requests the test answers. Each takes 3 ms.
type api struct {
	*testing.T
	traffic *telemetry.Traffic
	metrics *telemetry.Metrics
	log     *bytes.Buffer
	client  string // address
}

func newAPI(t *testing.T) *api {
	a := &api{T: t, metrics: telemetry.NewMetrics(), log: new(bytes.Buffer), client: "192.0.2.7"}
	a.traffic = telemetry.NewTraffic(slog.New(slog.NewJSONHandler(a.log, nil)), nil)
	a.metrics.AddTraffic(a.traffic)
	return a
}

// exchange answers a request and returns its log line.
func (a *api) exchange(ctx context.Context, answer http.HandlerFunc) (line map[string]any) {
	a.Helper()
	a.log.Reset()
	synctest.Test(a.T, func(*testing.T) {
		handler := recorded(a.traffic, a.client, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * time.Millisecond)
			answer(w, r)
		})
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", "/graphql", nil))
	})
	if err := json.Unmarshal(a.log.Bytes(), &line); err != nil {
		a.Fatalf("%v: %s", err, a.log)
	}
	delete(line, "time")
	return line
}

// recorded returns a handler that records each request to next, from a client.
func recorded(traffic *telemetry.Traffic, client string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w, r, end := traffic.Begin(w, r, client)
		defer end()
		next(w, r)
	})
}

// published returns the metrics as text.
func (a *api) published() string {
	o := telemetry.Observer{Metrics: a.metrics, Logger: slog.New(slog.DiscardHandler)}
	return ask(o, "GET", "/metrics").Body.String()
}

// expect checks that the metrics contain lines.
func (a *api) expect(lines ...string) {
	a.Helper()
	published := a.published()
	for _, line := range lines {
		if !strings.Contains(published, "\n"+line+"\n") {
			a.Errorf("there is no %s", line)
		}
	}
}

func TestExchangeIsLoggedAndCounted(t *testing.T) {
	a := newAPI(t)
	line := a.exchange(t.Context(), func(w http.ResponseWriter, r *http.Request) {
		a.expect("cosmosblog_requests_in_flight 1")
		ctx, done := telemetry.ExchangeOf(r.Context()).Operate(r.Context(), "Feed", "query")
		a.traffic.Sent(ctx, telemetry.Sent{Container: "feed", Operation: "query", Status: 429, Charge: 0.38})
		retry := telemetry.Sent{Container: "feed", Operation: "query", Status: 200, Charge: 5.25, Retry: true}
		a.traffic.Sent(ctx, retry)
		a.traffic.Sent(ctx, telemetry.Sent{Container: "posts", Operation: "read"})
		done()
		fmt.Fprint(w, "12345")
	})
	want := map[string]any{"level": "INFO", "msg": "request", "operation": "Feed", "type": "query",
		"status": 200.0, "ru": 5.63, "requests": 3.0, "retries": 1.0, "durationMs": 3.0, "bytes": 5.0,
		"client": "192.0.2.7"}
	if got, wanted := fmt.Sprint(line), fmt.Sprint(want); got != wanted {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
	a.traffic.Sent(t.Context(), telemetry.Sent{Container: "posts", Operation: "changeFeed", Status: 304, Charge: 1, Background: true})
	a.expect("cosmosblog_requests_in_flight 0",
		`cosmosblog_http_responses_total{status="200"} 1`,
		`cosmosblog_operations_total{code="OK",operation="Feed",type="query"} 1`,
		`cosmosblog_operation_duration_seconds_bucket{operation="Feed",le="0.0025"} 0`,
		`cosmosblog_operation_duration_seconds_bucket{operation="Feed",le="0.005"} 1`,
		`cosmosblog_request_charge_total{container="feed",operation="Feed"} 5.63`,
		`cosmosblog_request_charge_total{container="posts",operation=""} 1`,
		`cosmosblog_cosmos_requests_total{container="feed",operation="query",priority="high",status="429"} 1`,
		`cosmosblog_cosmos_requests_total{container="feed",operation="query",priority="high",status="200"} 1`,
		`cosmosblog_cosmos_requests_total{container="posts",operation="read",priority="high",status="0"} 1`,
		`cosmosblog_cosmos_requests_total{container="posts",operation="changeFeed",priority="low",status="304"} 1`,
		`cosmosblog_cosmos_retries_total{container="feed",operation="query"} 1`)
}

func TestFailedExchanges(t *testing.T) {
	a := newAPI(t)
	line := a.exchange(t.Context(), func(w http.ResponseWriter, r *http.Request) {
		e := telemetry.ExchangeOf(r.Context())
		_, done := e.Operate(r.Context(), "", "mutation")
		defer done()
		e.Fail("NOT_FOUND", "")
		e.Fail("NOT_FOUND", "")
		for i := range 30 {
			e.Fail("INTERNAL", fmt.Sprint("id", i))
		}
	})
	if line["code"] != "NOT_FOUND,INTERNAL" || line["level"] != "ERROR" ||
		line["errorId"] != "id0,id1,id2,id3,id4,id5,id6,id7,id8,id9" {
		t.Errorf("got %v", line)
	}
	line = a.exchange(t.Context(), func(w http.ResponseWriter, r *http.Request) {
		telemetry.ExchangeOf(r.Context()).Fail("UNAUTHENTICATED", "")
		w.WriteHeader(401)
	})
	if line["code"] != "UNAUTHENTICATED" || line["status"] != 401.0 || line["level"] != "INFO" {
		t.Errorf("got %v", line)
	}
	a.expect(`cosmosblog_operations_total{code="INTERNAL",operation="(anonymous)",type="mutation"} 1`,
		`cosmosblog_operations_total{code="UNAUTHENTICATED",operation="",type=""} 1`)
}

// A disconnected client is not a failure, and a preflight request is not an operation.
func TestExchangesThatAreNotFailures(t *testing.T) {
	a := newAPI(t)
	ctx, cancel := context.WithCancel(t.Context())
	line := a.exchange(ctx, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		telemetry.ExchangeOf(r.Context()).Fail("INTERNAL", "id")
	})
	if line["level"] != "INFO" {
		t.Errorf("got %v", line)
	}
	// Alarms are based on INTERNAL.
	a.expect(`cosmosblog_operations_total{code="CANCELED",operation="",type=""} 1`)
	a.exchange(t.Context(), func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })
	if text := a.published(); strings.Contains(text, `cosmosblog_operations_total{code="OK"`) {
		t.Errorf("a preflight request is an operation:\n%s", text)
	}
}

// The number of series is bounded, even if clients choose many names.
func TestOperationNamesAreBounded(t *testing.T) {
	a := newAPI(t)
	sent := 0
	operate := func(name string) map[string]any {
		sent++
		a.client = fmt.Sprintf("192.0.2.%d", sent%20)
		return a.exchange(t.Context(), func(w http.ResponseWriter, r *http.Request) {
			_, done := telemetry.ExchangeOf(r.Context()).Operate(r.Context(), name, "query")
			done()
			w.WriteHeader(200)
		})
	}
	long := strings.Repeat("x", 10_000)
	if line := operate(long); len(line["operation"].(string)) != 64 {
		t.Errorf("the log has %v", line["operation"])
	}
	for i := range 1000 {
		operate(fmt.Sprintf("Name%d", i))
	}
	operate("Name0")
	a.expect(`cosmosblog_operations_total{code="OK",operation="Name0",type="query"} 2`,
		`cosmosblog_operations_total{code="OK",operation="Name199",type="query"} 1`,
		`cosmosblog_operations_total{code="OK",operation="(other)",type="query"} 801`)
	if n := strings.Count(a.published(), "\ncosmosblog_operations_total{"); n != 201 {
		t.Errorf("there are %d operations", n)
	}
}

func TestMethodsOfANilExchange(t *testing.T) {
	e := telemetry.ExchangeOf(t.Context())
	e.Fail("INTERNAL", "id")
	_, done := e.Operate(t.Context(), "A", "query")
	done()
}
