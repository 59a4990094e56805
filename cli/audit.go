package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/projector"
	"cosmosblog/store/audit"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

var auditText = text{
	short: "Compares every view with its source, and repairs drifts",
	long: `Compares short copies of posts, the feed, counters, usernames and their reservations, and
the effects of deletions with their sources. Prints the drifts as a table, and exits with 1 if
there are any. With --repair it repairs them, and exits with 1 only if some could not be repaired, or if
partitions changed too fast to be compared.

An audit may run alongside servers and projectors, and may be interrupted at any time. Changes that
a projector has yet to project are not drifts. On a data folder that no process uses, the audit
runs a projector itself. If partitions changed too fast to be compared, run it again when there are
fewer writes.

`,
}

func runAudit(ctx context.Context, task Task) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		database, err := datafolder.OpenExisting(r, task.database())
		if err != nil && ctx.Err() != nil {
			return auditInterrupted(ctx, err)
		}
		if err != nil {
			return err
		}
		return auditDatabase(r, task, database)
	})
}

// auditDatabase audits a database. If this process runs the engine, it also runs a projector,
// because there may be no other one. The projector runs until the views are up to date, and
// again for the changes that a repair writes.
func auditDatabase(r *lifecycle.Runner, task Task, database *datafolder.Database) error {
	if database.OwnsEngine() {
		p, err := projector.New(catchUpOptions(database, task))
		if err != nil {
			return err
		}
		r.Go("projector", p.Run)
		if err := newCatchUp(database.DB, task.Stderr).all(r.Context()); err != nil {
			return auditInterrupted(r.Context(), err)
		}
	}
	return compare(r.Context(), task, database)
}

func compare(ctx context.Context, task Task, database *datafolder.Database) error {
	if history, err := changefeed.New(database.DB).History(ctx); err == nil && !history.IsRebuilt {
		task.note("The views are being rebuilt, because %s. Until that is done, they may differ.", history.Reason)
	}
	limit := &cosmos.ChargeLimit{PerSecond: chargeLimit(task.Config)}
	table := &driftTable{to: task.Stdout, bar: auditBar{to: task.Stderr}, repair: task.Config.Repair}
	result, err := audit.Run(limit.Context(ctx), database.DB, audit.Options{
		Repair:   task.Config.Repair,
		Found:    table.add,
		Progress: table.bar.update,
	})
	table.bar.end()
	if err != nil {
		return auditInterrupted(ctx, err)
	}
	task.Printf("%d posts, %d users, %d usernames and %d lists were audited for %.0f RU, in %s\n",
		result.Posts, result.Users, result.Usernames, result.Lists, limit.Spent(), database.Place)
	return auditResult(task, result)
}

// gentleLimit is a quarter of the smallest dedicated throughput of a container (400 RU/s).
const gentleLimit = 100

// chargeLimit returns the maximum RU/s to spend; 0 is no limit. The embedded engine has no limit
// by default.
func chargeLimit(c config.Config) float64 {
	if c.MaxRU == 0 && c.Endpoint != "" {
		return gentleLimit
	}
	return float64(c.MaxRU)
}

// auditInterrupted returns the error of an audit that did not finish. An audit that a signal
// ended also fails, because an exit code of 0 means that nothing drifts.
func auditInterrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if _, damaged := errors.AsType[*datafolder.DamageError](err); damaged {
		return err
	}
	return fmt.Errorf("the audit was interrupted and is incomplete: %s", firstLine(err))
}

// auditResult prints the result of an audit. It returns an error if something drifts, or may
// drift because it could not be compared.
func auditResult(task Task, result audit.Result) error {
	if result.Stalled {
		task.note("No projector caught up while the audit waited. " +
			"Changes that are not projected yet are among the drifts.")
	}
	if result.Unstable > 0 {
		task.note("%d partitions could not be compared, because they changed too often. "+
			"Run the audit again when there are fewer writes.", result.Unstable)
	}
	if result.Pending > 0 {
		task.note("%d renames and deletions are still in progress. Their effects are not among the drifts. "+
			"Run the audit again when a projector has finished them.", result.Pending)
	}
	left := result.Drifts - result.Corrected
	switch {
	case left > 0 && task.Config.Repair:
		return fmt.Errorf("%d of %d drifts were not repaired", left, result.Drifts)
	case left > 0:
		return fmt.Errorf("%d drifts were found: run audit --repair", left)
	case result.Drifts > 0:
		task.Printf("%d drifts were repaired\n", result.Corrected)
	}
	if result.Unstable > 0 {
		return fmt.Errorf("not everything could be compared: %d partitions changed too fast", result.Unstable)
	}
	if result.Drifts == 0 {
		task.Printf("no drift found\n")
	}
	return nil
}

// driftTable prints drifts as they are found, one per row.
type driftTable struct {
	to       io.Writer
	bar      auditBar
	repair   bool // whether rows contain the outcome of the repair
	hasTitle bool
}

// driftRow has room for the ids that this program generates.
const driftRow = "%-11s  %-9s  %-28s  %-28s  %-14s  %-30s  %s"

func (t *driftTable) add(d audit.Drift, repaired bool) {
	t.bar.clear()
	if !t.hasTitle {
		t.hasTitle = true
		t.row("", "kind", "container", "partition", "id", "field", "is", "should be")
	}
	outcome := "left: "
	if repaired {
		outcome = "repaired: "
	}
	t.row(outcome, string(d.Kind), d.Container, d.Partition, d.ID, cell(d.Field), cell(d.Is), cell(d.Should))
}

// row prints a row. In a repair, the outcome precedes the last cell.
func (t *driftTable) row(outcome string, cells ...any) {
	if t.repair {
		cells[len(cells)-1] = outcome + fmt.Sprint(cells[len(cells)-1])
	}
	fmt.Fprintf(t.to, driftRow+"\n", cells...)
}

type auditBar struct {
	to  io.Writer
	bar *progress // nil until the total is known
}

func (b *auditBar) update(p follow.Progress) {
	if p.Total == 0 && p.Done == 0 {
		return
	}
	if b.bar == nil {
		b.bar = newReadProgress(b.to, int(p.Total))
	}
	if p.Total == 0 {
		b.bar.set(int(p.Done), unknown)
	} else {
		b.bar.set(int(p.Done), int(p.Total))
	}
}

// clear removes the bar from the terminal until the next update.
func (b *auditBar) clear() {
	if b.bar != nil && b.bar.bar != nil {
		_ = b.bar.bar.Clear()
	}
}

func (b *auditBar) end() {
	if b.bar != nil {
		b.bar.end()
	}
}
