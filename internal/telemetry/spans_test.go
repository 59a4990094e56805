package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// traced returns a Traffic and the exporter that keeps its spans.
func traced() (*Traffic, *tracetest.InMemoryExporter) {
	exporter := tracetest.NewInMemoryExporter()
	tracing := &Tracing{sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))}
	return NewTraffic(nil, tracing), exporter
}

// attributesOf returns a span's attributes as text, in order.
func attributesOf(span tracetest.SpanStub) string {
	var all []string
	for _, a := range span.Attributes {
		all = append(all, fmt.Sprintf("%s=%v", a.Key, a.Value.AsInterface()))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// serveTraced answers a request with two requests to the database, the first of which is throttled.
func serveTraced(begun time.Time) tracetest.SpanStubs {
	traffic, exporter := traced()
	handler := recordedBy(traffic, "S3CRET", func(w http.ResponseWriter, r *http.Request) {
		e := ExchangeOf(r.Context())
		ctx, done := e.Operate(r.Context(), "Feed", "query")
		traffic.Sent(ctx, Sent{Container: "feed", Operation: "query", Status: 429, Begun: begun})
		retry := Sent{Container: "feed", Operation: "query", Status: 200, Charge: 5.25, Begun: begun, Retry: true}
		traffic.Sent(ctx, retry)
		e.Fail("NOT_FOUND", "")
		done()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	r := httptest.NewRequest("POST", "/graphql?query=S3CRET", strings.NewReader("S3CRET"))
	r.Header.Set("Traceparent", parent)
	handler.ServeHTTP(httptest.NewRecorder(), r)
	return exporter.GetSpans()
}

// The exchange's span contains the operation's, which contains those of the requests to the
// database.
func TestSpansAreNested(t *testing.T) {
	begun := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	spans := serveTraced(begun)
	if len(spans) != 4 {
		t.Fatalf("there are %d spans", len(spans))
	}
	throttled, sent, operation, exchange := spans[0], spans[1], spans[2], spans[3]
	for _, c := range []struct {
		span             tracetest.SpanStub
		parent           trace.SpanID
		name, attributes string
	}{
		{throttled, operation.SpanContext.SpanID(), "query feed",
			"azure.cosmosdb.operation.request_charge=0 db.collection.name=feed db.operation.name=query " +
				"db.response.status_code=429 db.system.name=azure.cosmosdb error.type=429"},
		{sent, operation.SpanContext.SpanID(), "query feed",
			"azure.cosmosdb.operation.request_charge=5.25 cosmosblog.retry=true db.collection.name=feed " +
				"db.operation.name=query db.response.status_code=200 db.system.name=azure.cosmosdb"},
		{operation, exchange.SpanContext.SpanID(), "query",
			"azure.cosmosdb.operation.request_charge=5.25 error.type=NOT_FOUND " +
				"graphql.operation.name=Feed graphql.operation.type=query"},
		{exchange, trace.SpanID{}, "POST /graphql",
			"error.type=NOT_FOUND http.request.method=POST http.response.status_code=503 " +
				"http.route=/graphql url.path=/graphql"},
	} {
		if c.span.Name != c.name || c.span.SpanContext.TraceID() != exchange.SpanContext.TraceID() {
			t.Errorf("got %s of the trace %s, want %s", c.span.Name, c.span.SpanContext.TraceID(), c.name)
		}
		if got := attributesOf(c.span); got != c.attributes {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.attributes)
		}
		if c.span.Parent.SpanID() != c.parent {
			t.Errorf("the parent of %s is %s", c.span.Name, c.span.Parent.SpanID())
		}
	}
	if !throttled.StartTime.Equal(begun) {
		t.Errorf("a request began %v", throttled.StartTime)
	}
	if text := fmt.Sprint(spans); strings.Contains(text, "S3CRET") {
		t.Errorf("the spans contain text of a request: %s", text)
	}
}

// The requests of a projector are in no trace.
func TestRequestsOutsideExchangesHaveNoSpans(t *testing.T) {
	traffic, exporter := traced()
	traffic.Sent(context.Background(), Sent{Container: "feed", Operation: "query", Status: 200})
	if spans := exporter.GetSpans(); len(spans) != 0 {
		t.Errorf("got %v", spans)
	}
}

// A client can send any word as the method.
func TestUnknownMethodsAreReplaced(t *testing.T) {
	traffic, exporter := traced()
	handler := recordedBy(traffic, "", http.NotFound)
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("S3CRET", "/graphql", nil))
	span := exporter.GetSpans()[0]
	const want = "http.request.method=_OTHER http.response.status_code=404 " +
		"http.route=/graphql url.path=/graphql"
	if span.Name != "_OTHER /graphql" || attributesOf(span) != want {
		t.Errorf("got %s %s", span.Name, attributesOf(span))
	}
}

// recordedBy returns a handler that records each request to next, from a client.
func recordedBy(traffic *Traffic, client string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w, r, end := traffic.Begin(w, r, client)
		defer end()
		next(w, r)
	})
}
