package cli

import (
	"context"
	"errors"
	"fmt"

	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
)

var rebuildText = text{
	short: "Rebuilds all views while they are in use",
	long: `Reads the change feeds from their beginning, rewrites every copy, counter and username that
differs from its source, regardless of its revision, and removes items without a source. It may
run alongside servers and projectors, and does not wait for them. Interrupted rebuilds resume. A
rebuild exits with 1 if something could not be repaired.
`,
}

func runRebuild(ctx context.Context, task Task) error {
	return withExisting(ctx, task, func(r *lifecycle.Runner, database *datafolder.Database) error {
		return rebuild(r.Context(), task, database)
	})
}

func rebuild(ctx context.Context, task Task, database *datafolder.Database) error {
	limit := &cosmos.ChargeLimit{PerSecond: chargeLimit(task.Config)}
	table := &driftTable{to: task.Stdout, bar: auditBar{to: task.Stderr}}
	if database.IsFolder() {
		task.note("The feed is rebuilt first and last. The embedded engine reads all items for that, without progress.")
	}
	rebuilt, err := audit.Rebuild(limit.Context(ctx), database.DB, audit.Options{
		FromStart: task.Config.FromStart,
		Found: func(d audit.Drift, corrected bool) {
			if !corrected {
				table.add(d, false)
			}
		},
		Progress: table.bar.update,
	})
	table.bar.end()
	if err == nil && database.OwnsEngine() {
		// A rebuild leaves some work to projectors, such as the items of deleted users.
		err = projectAll(ctx, task, database)
	}
	if err != nil {
		return rebuildInterrupted(ctx, task, err)
	}
	if rebuilt.Since != "" {
		task.Printf("resumed the rebuild of %s\n", rebuilt.Since)
	}
	task.Printf("%d posts, %d users, %d usernames and %d lists were rebuilt for %.0f RU, in %s\n",
		rebuilt.Posts, rebuilt.Users, rebuilt.Usernames, rebuilt.Lists, limit.Spent(), database.Place)
	return rebuildResult(task, rebuilt)
}

// rebuildInterrupted returns the error of a rebuild that did not finish, with advice. It returns
// nil if a signal ended it.
func rebuildInterrupted(ctx context.Context, task Task, err error) error {
	const advice = "the rebuild was interrupted: run the same command to resume it"
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	_, damaged := errors.AsType[*datafolder.DamageError](err)
	switch {
	case damaged:
		return err
	case errors.Is(err, audit.ErrRebuildTaken):
		return errors.New("another rebuild has started, and continues this one")
	case errors.Is(err, context.Canceled):
		task.note(advice)
		return nil
	}
	return fmt.Errorf("%s (%s)", advice, firstLine(err))
}

// rebuildResult prints the result of a rebuild. It returns an error if something could not be
// repaired.
func rebuildResult(task Task, rebuilt audit.Rebuilt) error {
	if rebuilt.Unstable > 0 {
		task.note("%d partitions could not be compared, because they changed too often.", rebuilt.Unstable)
	}
	repaired := rebuilt.Differed - rebuilt.Unstable
	switch {
	case rebuilt.Left > 0:
		return fmt.Errorf("%d drifts could not be repaired", rebuilt.Left)
	case repaired > 0:
		task.Printf("%d of them drifted and were repaired\n", repaired)
	case rebuilt.Unstable == 0:
		task.Printf("no drift found\n")
	}
	return nil
}
