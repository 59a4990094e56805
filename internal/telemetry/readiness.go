package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Check tells whether one part of a process can do its work. It may be asked concurrently.
type Check struct {
	Name string
	// Ready gives an error where that part is not ready, at the end of ctx at the latest: it is for the log alone. What else
	// it gives, where it is not nil, stands in the answer under the check's name, ready or not; everybody may read it.
	Ready func(ctx context.Context) (detail any, err error)
}

// readyTimeout is how long checks may take together: who asks, asks often, and takes no answer for one too.
const readyTimeout = 2 * time.Second

// Report runs the checks at the same time and gives what to answer, as JSON, and whether all are ready. A check that is not
// done in 2 s finds its context over. What is not ready is one line of the log.
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
