package datafolder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"cosmosblog/engine"
)

// CheckReport receives the progress, in items, and the faults of a check, from one goroutine.
type CheckReport struct {
	Progress func(done, total int)
	Fault    func(line string)
}

// Check reads a consistent snapshot of a data folder, and compares items, change feed, indexes,
// expiry times and definitions with each other. If another process owns the
// folder, that process checks it. The error is nil if the check finished, even if it found faults.
func Check(ctx context.Context, data string, report CheckReport) error {
	return withOwner(ctx, data,
		func(client *ownerClient) error { return client.check(ctx, report) },
		func(ctx context.Context, engine *Engine) error { return engine.check(ctx, report) })
}

// check checks the engine. The error is nil if the check finished.
func (e *Engine) check(ctx context.Context, report CheckReport) error {
	found := e.engine.CheckWithProgress(ctx, report.Progress)
	if errors.Is(found, engine.ErrClosed) || ctx.Err() != nil {
		return errors.Join(found, ctx.Err())
	}
	if found == nil {
		return nil
	}
	for line := range strings.Lines(found.Error()) {
		report.Fault(strings.TrimSpace(line))
	}
	return nil
}

// checkPath is the route for checks on the folder's socket: POST. The response is a stream of
// lines: "items DONE TOTAL", "fault TEXT", and "end" as the last one.
const checkPath = "/check"

// check asks the folder's owner to check the folder.
func (c *ownerClient) check(ctx context.Context, report CheckReport) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, ownerEndpoint+checkPath, nil)
	if err != nil {
		return err
	}
	response, err := c.transport.Do(request)
	if err != nil {
		return fmt.Errorf("process %d owns the data folder %s and did not check it: %w", c.owner.PID, c.path, err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "items":
			var done, total int
			if _, err := fmt.Sscan(rest, &done, &total); err == nil {
				report.Progress(done, total)
			}
		case "fault":
			report.Fault(rest)
		case "end":
			return nil
		}
	}
	return fmt.Errorf("process %d owns the data folder %s and did not finish its check", c.owner.PID, c.path)
}

// checkHandler checks the folder for other processes.
type checkHandler struct {
	engine *Engine
	logger *slog.Logger
}

func (h checkHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	response := http.NewResponseController(w)
	_ = response.SetWriteDeadline(time.Time{}) // the time depends on the number of items
	faults := 0
	report := CheckReport{
		Progress: func(done, total int) {
			fmt.Fprintf(w, "items %d %d\n", done, total)
			_ = response.Flush()
		},
		Fault: func(line string) {
			faults++
			fmt.Fprintf(w, "fault %s\n", line)
		},
	}
	if err := h.engine.check(r.Context(), report); err != nil {
		h.logger.Warn("check not finished", "error", err)
		return
	}
	h.logger.Info("folder checked", "faults", faults)
	fmt.Fprintln(w, "end")
}
