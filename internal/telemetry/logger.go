package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger returns the logger of a process, for records of at least a level. It writes slog's
// text format if forPeople is true, and otherwise JSON.
func NewLogger(w io.Writer, forPeople bool, from slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: from}
	if forPeople {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
