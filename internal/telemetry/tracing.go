package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Tracing sends spans to a collector in batches, in the background. A nil Tracing sends none.
type Tracing struct{ provider *sdktrace.TracerProvider }

// flushTime is the maximum time that Close waits for the collector. The process has 10 s to end,
// and must close other parts too.
const flushTime = time.Second

// StartTracing starts to send spans to a collector by OTLP over HTTP. OpenTelemetry's environment
// variables OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and OTEL_EXPORTER_OTLP_HEADERS have effect
// too. Failures to send are logged. It returns an error if the endpoint or a variable is
// malformed; it does not contact the collector.
func StartTracing(ctx context.Context, endpoint, version string, logger *slog.Logger) (*Tracing, error) {
	target, err := url.JoinPath(endpoint, "v1/traces")
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target))
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("cosmosblog"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("spans were not sent", "cause", err) }))
	return &Tracing{sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))}, nil
}

// Close sends the remaining spans. If they cannot be sent in time, they are lost and Close
// returns an error.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// tracer returns nil if t is nil.
func (t *Tracing) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("cosmosblog")
}
