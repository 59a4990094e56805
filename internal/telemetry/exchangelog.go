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
	// Logger.LogAttrs would also look up its caller, which no line shows.
	line := slog.NewRecord(time.Now(), level, "request", 0)
	line.AddAttrs(
		slog.String("operation", e.operation.name),
		slog.String("type", e.operation.kind),
		slog.Int("status", answer.status),
		slog.Float64("ru", math.Round(e.charge*100)/100),
		slog.Int("requests", e.requests),
		slog.Int("retries", e.retries),
		slog.Float64("durationMs", float64(took.Microseconds())/1000),
		slog.Int("bytes", answer.bytes),
		slog.String("client", e.client),
	)
	if len(e.codes) > 0 {
		line.AddAttrs(slog.String("code", strings.Join(e.codes, ",")))
	}
	if len(e.errorIDs) > 0 {
		line.AddAttrs(slog.String("errorId", strings.Join(e.errorIDs, ",")))
	}
	if span := e.span.SpanContext(); span.IsValid() {
		line.AddAttrs(slog.String("traceId", span.TraceID().String()))
	}
	if e.clientTraceID != "" {
		line.AddAttrs(slog.String("clientTraceId", e.clientTraceID))
	}
	_ = logger.Handler().Handle(ctx, line) // as Logger does: a line that cannot be written is lost
}

// level returns the error level if the exchange failed on the server's side, but not if the
// client disconnected.
func (e *Exchange) level(ctx context.Context, status int) slog.Level {
	if e.outcome(ctx, status) == codeInternal {
		return slog.LevelError
	}
	return slog.LevelInfo
}
