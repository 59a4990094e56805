package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger gives the log of a process: lines for people in development, lines of JSON in production.
func NewLogger(w io.Writer, development bool) *slog.Logger {
	if development {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
