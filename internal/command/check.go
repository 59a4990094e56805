package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cosmosblog/store/embedded"
)

var checkText = text{
	short: "Check a data folder, also while a server runs on it",
	long: `Reads all that a data folder holds at one moment, and compares items, change feed, indexes, times of expiry and definitions
with each other. Writes a line for each fault, and ends with 1 where there is one.
`,
}

func check(ctx context.Context, task Task) error {
	if _, err := os.Stat(filepath.Join(task.Config.Data, engineName)); errors.Is(err, fs.ErrNotExist) {
		return noDataError(task.Config.Data)
	}
	folder, visit, err := findDataFolder(ctx, task.Config.Data)
	if err != nil {
		return err
	}
	told := newProgress(task.Stderr, "items", 1) // as many as there turn out to be
	report := checkReport{tell: told.reach, fault: func(line string) { task.Printf("%s\n", line) }}
	if visit != nil {
		defer visit.transport.close()
		err = visit.check(ctx, &report)
	} else {
		err = folder.checkAlone(ctx, &report)
	}
	told.end()
	switch {
	case err != nil:
		return err
	case report.faults > 0:
		return fmt.Errorf("the data folder %s has %d faults", task.Config.Data, report.faults)
	}
	task.Printf("all is well: %d items\n", report.items)
	return nil
}

// checkReport is where a check tells how far it is, and what it found.
type checkReport struct {
	tell          func(done, total int)
	fault         func(line string)
	items, faults int
}

func (r *checkReport) reach(done, total int) {
	r.items = total
	r.tell(done, total)
}

// run checks an engine. Error: that it could not.
func (r *checkReport) run(ctx context.Context, engine *ownedEngine) error {
	found := engine.CheckTelling(ctx, r.reach)
	if errors.Is(found, embedded.ErrClosed) || ctx.Err() != nil {
		return errors.Join(found, ctx.Err())
	}
	if found == nil {
		return nil
	}
	for line := range strings.Lines(found.Error()) {
		r.faults++
		r.fault(strings.TrimSpace(line))
	}
	return nil
}

// checkAlone checks a folder that nobody else has open, and gives it back.
func (f *dataFolder) checkAlone(ctx context.Context, report *checkReport) (err error) {
	defer closing(&err, f.release)
	engine, err := f.openEngine(ctx, embedded.Options{})
	if err != nil {
		return err
	}
	defer closing(&err, engine.Close)
	return report.run(engine.whole, engine)
}

// checkPath is where an owner takes the wish for a check: POST. It answers with lines, as they come up: "items DONE TOTAL",
// "fault WHAT", and "end" as the last one. It is on the socket alone.
const checkPath = "/check"

// check has the folder's owner check it.
func (v *visit) check(ctx context.Context, report *checkReport) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, socketEndpoint+checkPath, nil)
	if err != nil {
		return err
	}
	response, err := v.transport.Do(request)
	if err != nil {
		return fmt.Errorf("process %d owns the data folder %s and did not check it: %w", v.owner.PID, v.path, err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		what, rest, _ := strings.Cut(lines.Text(), " ")
		switch what {
		case "items":
			var done, total int
			if _, err := fmt.Sscan(rest, &done, &total); err == nil {
				report.reach(done, total)
			}
		case "fault":
			report.faults++
			report.fault(rest)
		case "end":
			return nil
		}
	}
	return fmt.Errorf("process %d owns the data folder %s and did not finish its check", v.owner.PID, v.path)
}

// checkHandler answers the wish for a check.
type checkHandler struct {
	engine *ownedEngine
	logger *slog.Logger
}

func (h checkHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := http.NewResponseController(w)
	_ = answer.SetWriteDeadline(time.Time{}) // it takes as long as there are items
	report := checkReport{
		tell: func(done, total int) {
			fmt.Fprintf(w, "items %d %d\n", done, total)
			_ = answer.Flush()
		},
		fault: func(line string) { fmt.Fprintf(w, "fault %s\n", line) },
	}
	if err := report.run(r.Context(), h.engine); err != nil {
		h.logger.Warn("a check did not finish", "error", err)
		return
	}
	h.logger.Info("the folder was checked", "faults", report.faults)
	fmt.Fprintln(w, "end")
}
