package telemetry

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestTheServerDecidesWhatIsTraced checks that a client can neither have its requests traced nor
// keep them from being traced, and that both traces can be found from one another.
func TestTheServerDecidesWhatIsTraced(t *testing.T) {
	const low = "00-00000000000000000000000000000001-b7ad6b7169203331-" // sampled by every ratio
	for _, c := range []struct {
		name, traceparent, state string
		sampler                  sdktrace.Sampler
		spans                    int
		linked                   string
	}{
		{"no client's trace", "", "", sdktrace.AlwaysSample(), 1, ""},
		{"a malformed trace", "00-S3CRET", "", sdktrace.AlwaysSample(), 1, ""},
		{"a client that samples", low + "01", "a=S3CRET", sdktrace.NeverSample(), 0, ""},
		{"a client's choice of id", low + "01", "", sdktrace.TraceIDRatioBased(1e-9), 0, ""},
		{"a client that does not sample", low + "00", "a=S3CRET", sdktrace.AlwaysSample(), 1, low[3:35]},
		{"a client and the server sample", low + "01", "a=S3CRET", sdktrace.AlwaysSample(), 1, low[3:35]},
	} {
		exporter, log := tracetest.NewInMemoryExporter(), new(bytes.Buffer)
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithSampler(sdktrace.ParentBased(c.sampler)))
		traffic := NewTraffic(slog.New(slog.NewJSONHandler(log, nil)), &Tracing{provider})
		server := httptest.NewServer(recordedBy(traffic, "", http.NotFound))
		request, err := http.NewRequest("GET", server.URL+"/graphql", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Traceparent", c.traceparent)
		request.Header.Set("Tracestate", c.state)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		server.Close() // after the end of the exchange
		spans := exporter.GetSpans()
		if len(spans) != c.spans {
			t.Errorf("%s: %d spans, want %d", c.name, len(spans), c.spans)
			continue
		}
		var line struct{ TraceID, ClientTraceID string }
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.TraceID == "" || line.ClientTraceID != clientTrace(c.traceparent) {
			t.Errorf("%s: logged as %s", c.name, log)
		}
		if len(spans) == 0 {
			continue
		}
		linked := ""
		for _, link := range spans[0].Links {
			linked += link.SpanContext.TraceID().String()
			if link.SpanContext.TraceState().Len() > 0 {
				t.Errorf("%s: the span contains a client's tracestate", c.name)
			}
		}
		if linked != c.linked || spans[0].Parent.IsValid() || spans[0].SpanContext.TraceID().String() == low[3:35] {
			t.Errorf("%s: %+v", c.name, spans[0])
		}
	}
}

// clientTrace returns the trace id of a valid traceparent.
func clientTrace(traceparent string) string {
	if len(traceparent) != 55 {
		return ""
	}
	return traceparent[3:35]
}
