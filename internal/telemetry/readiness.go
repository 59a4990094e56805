package telemetry

import (
	"context"
	"log/slog"
)

// Check tells whether one part of a process can do its work. It may be asked concurrently.
type Check struct {
	Name string
	// Ready gives an error where that part is not ready: it is for the log alone. What else it gives, where it is not nil,
	// stands in the answer under the check's name, ready or not; everybody may read it.
	Ready func(ctx context.Context) (detail any, err error)
}

// Report runs the checks one after the other and gives what to answer, as JSON, and whether all are ready.
func Report(ctx context.Context, checks []Check, logger *slog.Logger) (report map[string]any, ready bool) {
	report = map[string]any{"status": "ready"}
	waiting := []string{}
	for _, check := range checks {
		detail, err := check.Ready(ctx)
		if err != nil {
			waiting = append(waiting, check.Name)
			logger.LogAttrs(ctx, slog.LevelWarn, "not ready", slog.String("check", check.Name), slog.Any("cause", err))
		}
		if detail != nil {
			report[check.Name] = detail
		}
	}
	if len(waiting) > 0 {
		report["status"], report["waiting"] = "not ready", waiting
	}
	return report, len(waiting) == 0
}
