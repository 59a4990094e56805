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
	"go.opentelemetry.io/otel/trace/noop"
)

// Tracing sends spans to a collector, in batches and beside what they tell of. Nil stands for none.
type Tracing struct{ provider *sdktrace.TracerProvider }

// flushTime is how long Close waits for a collector: the process has 10 s to end in, and other things to do.
const flushTime = time.Second

// StartTracing begins to send spans to the collector at an endpoint of OTLP over HTTP. What else OpenTelemetry's variables
// of the environment say (OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS) holds too. The logger is told
// where spans could not be sent. Error: the endpoint or one of the variables is malformed; nothing is sent yet.
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

// Close sends the spans that are left and ends. Error: they could not be sent in time, and are lost.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

func (t *Tracing) tracer() trace.Tracer {
	if t == nil {
		return noop.NewTracerProvider().Tracer("")
	}
	return t.provider.Tracer("cosmosblog")
}
