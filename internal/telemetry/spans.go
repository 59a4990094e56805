package telemetry

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// A trace has a span for the exchange. Its child is the span of the operation, whose children
// are the spans of requests to the database. Names and attributes follow OpenTelemetry's
// semantic conventions. They contain no text of users: no queries, variables, ids or addresses.

// startTrace starts the exchange's span, in a trace of its own. If the request names a client's
// span (W3C Trace Context), the exchange's span has a link to it. It has no parent, because the
// client could then decide, by a flag or the trace's id, whether this server traces the request.
func (e *Exchange) startTrace(ctx context.Context, r *http.Request) context.Context {
	client := clientSpan(r)
	if client.IsValid() {
		e.clientTraceID = client.TraceID().String()
	}
	if e.traffic.tracer == nil {
		e.span = noop.Span{}
		return ctx
	}
	method, path := methodOf(r), strings.Clone(r.URL.Path) // a part of the request's first line
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer)}
	if client.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: client}))
	}
	ctx, e.span = e.traffic.tracer.Start(ctx, method+" "+path, options...)
	if e.span.IsRecording() {
		e.span.SetAttributes(
			semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(path), semconv.URLPath(path))
	}
	return ctx
}

// clientSpan returns the span that a request names, without the client's own tracestate.
func clientSpan(r *http.Request) trace.SpanContext {
	if len(r.Header["Traceparent"]) == 0 { // Extract would copy its name
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header))
	return trace.SpanContextFromContext(ctx).WithTraceState(trace.TraceState{})
}

// methodOf returns a request's method, or _OTHER if it is not a standard one, because clients can
// send any word. The result shares no memory with the request.
func methodOf(r *http.Request) string {
	for _, method := range methods {
		if r.Method == method {
			return method
		}
	}
	return "_OTHER"
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete, http.MethodOptions}

func (e *Exchange) endTrace(status int) {
	if e.span.IsRecording() {
		e.span.SetAttributes(semconv.HTTPResponseStatusCode(status))
		if status == 0 || status >= http.StatusInternalServerError {
			fail(e.span, e.code(status))
		}
	}
	e.span.End()
}

// startOperation starts the span of the exchange's operation. The function that it returns ends
// the span.
func (e *Exchange) startOperation(ctx context.Context, o operation) (context.Context, func()) {
	if e.traffic.tracer == nil {
		return ctx, func() {}
	}
	ctx, span := e.traffic.tracer.Start(ctx, o.kind)
	if !span.IsRecording() {
		return ctx, func() {}
	}
	span.SetAttributes(semconv.GraphQLOperationTypeKey.String(o.kind))
	if o.name != "" {
		span.SetAttributes(semconv.GraphQLOperationName(o.name))
	}
	return ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		span.SetAttributes(semconv.AzureCosmosDBOperationRequestCharge(e.charge))
		if code := e.outcome(ctx, http.StatusOK); code != codeOK {
			fail(span, code)
		}
		span.End()
	}
}

// traceSent records the span of a finished request to the database, if its exchange is traced.
func (t *Traffic) traceSent(ctx context.Context, s Sent) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	_, span := t.tracer.Start(ctx, s.Operation+" "+s.Container,
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(s.Begun),
		trace.WithAttributes(
			semconv.DBSystemNameAzureCosmosDB,
			semconv.DBCollectionName(s.Container),
			semconv.DBOperationName(s.Operation),
			semconv.AzureCosmosDBOperationRequestCharge(s.Charge),
			semconv.DBResponseStatusCode(statusText(s.Status)),
		))
	if s.Retry {
		span.SetAttributes(attribute.Bool("cosmosblog.retry", true))
	}
	if s.Status < http.StatusOK || s.Status >= http.StatusBadRequest {
		fail(span, statusText(s.Status))
	}
	span.End()
}

// fail marks a span as failed, with a kind of error.
func fail(span trace.Span, kind string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, "")
}
