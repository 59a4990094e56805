package telemetry

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"time"
)

// log writes the one line of an exchange. What a client wrote is in it by the name of the operation alone, which is a name
// in GraphQL.
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
	logger.LogAttrs(ctx, level, "request", attributes...)
}

// level is that of an error where something went wrong on our side, and not because the client went away.
func (e *Exchange) level(ctx context.Context, status int) slog.Level {
	if e.outcome(ctx, status) == codeInternal {
		return slog.LevelError
	}
	return slog.LevelInfo
}
