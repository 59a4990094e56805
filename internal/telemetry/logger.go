package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger gives the log of a process, from a level on: lines for people, or lines of JSON.
func NewLogger(w io.Writer, forPeople bool, from slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: from}
	if forPeople {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
