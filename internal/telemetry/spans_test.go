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

// traced gives a traffic whose spans are kept.
func traced() (*Traffic, *tracetest.InMemoryExporter) {
	kept := tracetest.NewInMemoryExporter()
	return NewTraffic(TrafficOptions{Tracing: &Tracing{sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept))}}), kept
}

// attributesOf gives a span's attributes as text, in order.
func attributesOf(span tracetest.SpanStub) string {
	var all []string
	for _, a := range span.Attributes {
		all = append(all, fmt.Sprintf("%s=%v", a.Key, a.Value.AsInterface()))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// The span of an exchange is within the client's, that of its operation within it, and each request within that.
func TestSpans(t *testing.T) {
	traffic, kept := traced()
	begun := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	handler := traffic.Exchanges(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := ExchangeOf(r.Context())
		ctx, done := e.Operate(r.Context(), "Feed", "query")
		traffic.Sent(ctx, Sent{Container: "feed", Operation: "query", Status: 429, Begun: begun})
		traffic.Sent(ctx, Sent{Container: "feed", Operation: "query", Status: 200, Charge: 5.25, Begun: begun, Retry: true})
		e.Fail("NOT_FOUND", "")
		done()
		w.WriteHeader(http.StatusServiceUnavailable)
	}), func(*http.Request) string { return "S3CRET" })
	r := httptest.NewRequest("POST", "/graphql?query=S3CRET", strings.NewReader("S3CRET"))
	r.Header.Set("Traceparent", parent)
	handler.ServeHTTP(httptest.NewRecorder(), r)

	spans := kept.GetSpans()
	if len(spans) != 4 {
		t.Fatalf("there are %d spans", len(spans))
	}
	refused, sent, operation, exchange := spans[0], spans[1], spans[2], spans[3]
	caller, _ := trace.SpanIDFromHex(parent[36:52])
	for _, c := range []struct {
		span        tracetest.SpanStub
		within      trace.SpanID
		name, about string
	}{
		{refused, operation.SpanContext.SpanID(), "query feed", "azure.cosmosdb.operation.request_charge=0 db.collection.name=feed db.operation.name=query db.response.status_code=429 db.system.name=azure.cosmosdb error.type=429"},
		{sent, operation.SpanContext.SpanID(), "query feed", "azure.cosmosdb.operation.request_charge=5.25 cosmosblog.retry=true db.collection.name=feed db.operation.name=query db.response.status_code=200 db.system.name=azure.cosmosdb"},
		{operation, exchange.SpanContext.SpanID(), "query", "azure.cosmosdb.operation.request_charge=5.25 error.type=NOT_FOUND graphql.operation.name=Feed graphql.operation.type=query"},
		{exchange, caller, "POST /graphql", "error.type=NOT_FOUND http.request.method=POST http.response.status_code=503 http.route=/graphql url.path=/graphql"},
	} {
		if c.span.Name != c.name || c.span.SpanContext.TraceID().String() != parent[3:35] {
			t.Errorf("got %s of the trace %s, want %s", c.span.Name, c.span.SpanContext.TraceID(), c.name)
		}
		if got := attributesOf(c.span); got != c.about {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.about)
		}
		if c.span.Parent.SpanID() != c.within {
			t.Errorf("%s is within %s", c.span.Name, c.span.Parent.SpanID())
		}
	}
	if !refused.StartTime.Equal(begun) {
		t.Errorf("a request began %v", refused.StartTime)
	}
	if text := fmt.Sprint(spans); strings.Contains(text, "S3CRET") {
		t.Errorf("the spans tell what is in a request: %s", text)
	}
}

// What is sent for nobody in particular, by a projector, is in no trace.
func TestNoSpansOutsideOfExchanges(t *testing.T) {
	traffic, kept := traced()
	traffic.Sent(context.Background(), Sent{Container: "feed", Operation: "query", Status: 200})
	if spans := kept.GetSpans(); len(spans) != 0 {
		t.Errorf("got %v", spans)
	}
}

// Methods are made up by whoever likes to.
func TestMethodsAreBounded(t *testing.T) {
	traffic, kept := traced()
	handler := traffic.Exchanges(http.NotFoundHandler(), func(*http.Request) string { return "" })
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("S3CRET", "/graphql", nil))
	if span := kept.GetSpans()[0]; span.Name != "_OTHER /graphql" || attributesOf(span) != "http.request.method=_OTHER http.response.status_code=404 http.route=/graphql url.path=/graphql" {
		t.Errorf("got %s %s", span.Name, attributesOf(span))
	}
}
