package telemetry_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/telemetry"
)

// A report takes 2 s, however many checks do not return.
func TestReportTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
		begun := time.Now()
		report, ready := telemetry.Report(t.Context(), []telemetry.Check{
			{Name: "one", Ready: stuck},
			{Name: "well", Ready: func(context.Context) (any, error) { return nil, nil }},
			{Name: "two", Ready: stuck},
		}, slog.New(slog.DiscardHandler))
		if waiting, _ := report["waiting"].([]string); ready || !slices.Equal(waiting, []string{"one", "two"}) {
			t.Errorf("got %v", report)
		}
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("the report took %v", took)
		}
	})
}

// A report logs one line for all checks that fail.
func TestReportLogsOneLine(t *testing.T) {
	var log strings.Builder
	fails := func(context.Context) (any, error) { return nil, errors.New("away") }
	checks := []telemetry.Check{{Name: "database", Ready: fails}, {Name: "lag", Ready: fails}}
	telemetry.Report(t.Context(), checks, slog.New(slog.NewTextHandler(&log, nil)))
	text := log.String()
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, "cause.database=away cause.lag=away") {
		t.Errorf("got %s", text)
	}
}
