package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Check reports whether one part of a process is ready.
type Check struct {
	Name string
	// Ready returns an error if the part is not ready. It must return when ctx ends, and may be
	// called concurrently. The error appears only in the log. The detail is public: unless it is
	// nil, the response contains it under the check's name, whether or not the part is ready.
	Ready func(ctx context.Context) (detail any, err error)
}

// readyTimeout is the timeout of all checks together. Load balancers ask often, and treat a
// missing answer as "not ready".
const readyTimeout = 2 * time.Second

// Report runs the checks concurrently. It returns the response, to be encoded as JSON, and
// whether all checks are ready. The context of the checks ends after 2 s. Report logs one line if
// a check is not ready.
func Report(ctx context.Context, checks []Check, logger *slog.Logger) (report map[string]any, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	details, errs := make([]any, len(checks)), make([]error, len(checks))
	var running sync.WaitGroup
	for i, check := range checks {
		running.Go(func() { details[i], errs[i] = check.Ready(ctx) })
	}
	running.Wait()
	report = map[string]any{"status": "ready"}
	waiting, causes := []string{}, []any{}
	for i, check := range checks {
		if err := errs[i]; err != nil {
			waiting = append(waiting, check.Name)
			causes = append(causes, slog.Any(check.Name, err))
		}
		if details[i] != nil {
			report[check.Name] = details[i]
		}
	}
	if len(waiting) > 0 {
		report["status"], report["waiting"] = "not ready", waiting
		logger.LogAttrs(ctx, slog.LevelWarn, "not ready", slog.Group("cause", causes...))
	}
	return report, len(waiting) == 0
}
