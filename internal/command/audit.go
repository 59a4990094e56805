package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"cosmosblog/internal/config"
	"cosmosblog/projector"
	"cosmosblog/store"
)

var auditText = text{
	short: "Compare every view with its source, and mend what drifts",
	long: `Compares the short copies of posts, the feed, all counters, usernames and their reservations, and what follows from deletions, with
what they are made from, and prints what drifts as a table. It ends with 1 where anything does. With --repair it mends that and ends
with 1 only where something could not be mended. Both may run beside servers and projectors, may be broken off at any time, and do
not take for drift what a projector is about to do. On a data folder that no process serves, a projector first does that, and runs
beside it. What changes too fast to be compared is counted, and ends it with 1, too: then another run, at a quieter time, knows more.
`,
}

func runAudit(ctx context.Context, task Task) (err error) {
	database, beside, err := openExisting(ctx, task)
	if err != nil && ctx.Err() != nil {
		return auditBrokenOff(ctx, err)
	}
	if err != nil {
		return err
	}
	defer closing(&err, database.Close)
	return auditDatabase(beside, task, database)
}

// auditDatabase audits with a projector beside it: where this process owns the engine, nobody else projects what is left to
// do, and what a repair writes.
func auditDatabase(ctx context.Context, task Task, database *Database) (err error) {
	if database.Engine != nil {
		var p *projector.Projector
		if p, err = projector.New(settleOptions(database, task)); err != nil {
			return err
		}
		var stop func() error
		ctx, stop = Start(ctx, "projector", p.Run)
		defer closing(&err, stop)
		if err = (&settling{database.Store, task.Stderr, time.Now}).all(ctx); err != nil {
			return auditBrokenOff(ctx, err)
		}
	}
	return audit(ctx, task, database)
}

func audit(ctx context.Context, task Task, database *Database) error {
	limit := &store.ChargeLimit{PerSecond: chargeLimit(task.Config)}
	report := &auditReport{to: task.Stdout, bar: auditBar{to: task.Stderr}, repair: task.Config.Repair}
	auditing := store.Auditing{Store: database.Store, Repair: task.Config.Repair, Found: report.found, Progress: report.bar.tell}
	audited, err := auditing.Run(limit.Context(ctx))
	report.bar.end()
	if err != nil {
		return auditBrokenOff(ctx, err)
	}
	task.Printf("%d posts, %d users and %d usernames were audited for %.0f RU, in %s\n",
		audited.Posts, audited.Users, audited.Usernames, limit.Spent(), database.Place)
	return auditVerdict(task, audited)
}

// gentleLimit is a quarter of the smallest throughput that a container can have of its own (400 RU/s).
const gentleLimit = 100

// chargeLimit gives the RU that is spent in a second; 0 for no limit. The embedded engine has none of its own.
func chargeLimit(c config.Config) float64 {
	if c.MaxRU == 0 && c.Endpoint != "" {
		return gentleLimit
	}
	return float64(c.MaxRU)
}

// auditBrokenOff says that an audit did not come to its end. That somebody ended it is an error, too: who asks for its exit code
// must not think that nothing drifts.
func auditBrokenOff(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if _, damaged := errors.AsType[*damageError](err); damaged {
		return err
	}
	return fmt.Errorf("the audit was broken off, and says nothing of the rest: %s", firstLine(err))
}

// auditVerdict says what came of an audit. Error: something drifts, or drifts still, or nobody knows whether it does: who asks
// for the exit code must not think that all was compared.
func auditVerdict(task Task, audited store.Audited) error {
	if audited.Stalled {
		fmt.Fprintln(task.Stderr, "No projector came to the end of its change feeds while the audit waited: what is yet to be projected is told as drift.")
	}
	if audited.Restless > 0 {
		fmt.Fprintf(task.Stderr, "Of %d partitions nothing is known, because they changed whenever something differed there. "+
			"Run it again when less is written.\n", audited.Restless)
	}
	if audited.Pending > 0 {
		fmt.Fprintf(task.Stderr, "%d renames and deletions were not done yet: what a projector has to do for them is not told as drift. "+
			"Run it again when one had time for that.\n", audited.Pending)
	}
	left := audited.Drifts - audited.Mended
	switch {
	case left > 0 && task.Config.Repair:
		return fmt.Errorf("%d of %d drifts were not mended", left, audited.Drifts)
	case left > 0:
		return fmt.Errorf("%d drifts were found; audit --repair mends what it can", left)
	case audited.Drifts > 0:
		task.Printf("%d drifts were mended\n", audited.Mended)
	}
	if audited.Restless > 0 {
		return fmt.Errorf("not everything could be compared: %d partitions changed too fast", audited.Restless)
	}
	if audited.Drifts == 0 {
		task.Printf("nothing drifts\n")
	}
	return nil
}

// auditReport prints drifts as they are found, one a line.
type auditReport struct {
	to     io.Writer
	bar    auditBar
	repair bool
	begun  bool // whether the heading is printed
}

// driftRow has room for the ids that this program makes.
const driftRow = "%-11s  %-9s  %-28s  %-28s  %-14s  %-30s  %s"

func (r *auditReport) found(d store.Drift, mended bool) {
	r.bar.clear()
	if !r.begun {
		r.begun = true
		r.row("", "kind", "container", "partition", "id", "field", "is", "should be")
	}
	outcome := "left: "
	if mended {
		outcome = "mended: "
	}
	r.row(outcome, string(d.Kind), d.Container, d.Partition, d.ID, cell(d.Field), cell(d.Is), cell(d.Should))
}

// row prints one line; of a repair, with what came of it before what should be.
func (r *auditReport) row(outcome string, cells ...any) {
	if r.repair {
		cells[len(cells)-1] = outcome + fmt.Sprint(cells[len(cells)-1])
	}
	fmt.Fprintf(r.to, driftRow+"\n", cells...)
}

// longestCell is how many characters of a text a table shows.
const longestCell = 30

// cell gives a text for a table: on one line, short, and never empty.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	quoted := []rune(fmt.Sprintf("%q", text))
	if quoted = quoted[1 : len(quoted)-1]; len(quoted) > longestCell {
		quoted = append(quoted[:longestCell-1], '…')
	}
	return string(quoted)
}

// auditBar tells how far an audit is.
type auditBar struct {
	to  io.Writer
	bar *progress // nil until there is something to tell
}

func (b *auditBar) tell(p store.AuditProgress) {
	if p.Total == 0 {
		return
	}
	if b.bar == nil {
		b.bar = newProgress(b.to, "changes", int(p.Total))
	}
	b.bar.reach(int(p.Done), int(p.Total))
}

// clear makes room for a line on a terminal.
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
