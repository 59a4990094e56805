package telemetry

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"time"
)

// log writes the line of an exchange. The operation's name is the only text in it that a client
// chose; it is a GraphQL name.
func (e *Exchange) log(ctx context.Context, answer *answerWriter, took time.Duration) {
	logger, level := e.traffic.logger, e.level(ctx, answer.status)
	if logger == nil || !logger.Enabled(ctx, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("operation", e.operation.name),
		slog.String("type", e.operation.kind),
		slog.Int("status", answer.status),
		slog.Float64("ru", math.Round(e.charge*100)/100),
		slog.Int("requests", e.requests),
		slog.Int("retries", e.retries),
		slog.Float64("durationMs", float64(took.Microseconds())/1000),
		slog.Int("bytes", answer.bytes),
		slog.String("client", e.client),
	}
	if len(e.codes) > 0 {
		attributes = append(attributes, slog.String("code", strings.Join(e.codes, ",")))
	}
	if len(e.errorIDs) > 0 {
		attributes = append(attributes, slog.String("errorId", strings.Join(e.errorIDs, ",")))
	}
	if span := e.span.SpanContext(); span.IsValid() {
		attributes = append(attributes, slog.String("traceId", span.TraceID().String()))
	}
	if e.clientTraceID != "" {
		attributes = append(attributes, slog.String("clientTraceId", e.clientTraceID))
	}
	logger.LogAttrs(ctx, level, "request", attributes...)
}

// level returns the error level if the exchange failed on the server's side, but not if the
// client disconnected.
func (e *Exchange) level(ctx context.Context, status int) slog.Level {
	if e.outcome(ctx, status) == codeInternal {
		return slog.LevelError
	}
	return slog.LevelInfo
}
