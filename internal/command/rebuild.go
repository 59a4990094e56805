package command

import (
	"context"
	"errors"
	"fmt"

	"cosmosblog/store"
)

var rebuildText = text{
	short: "Make all views anew, while the old ones serve",
	long: `Reads the change feeds from their beginning, writes every copy, counter and username anew that is not what its source says, whatever
state it claims to be of, and removes what has no source. It may run beside servers and projectors, and does not wait for them. A
rebuild that was broken off goes on where it ended when it is run again. It ends with 1 where something could not be made right.
`,
}

func runRebuild(ctx context.Context, task Task) (err error) {
	database, beside, err := openExisting(ctx, task)
	if err != nil {
		return err
	}
	defer closing(&err, database.Close)
	return rebuildDatabase(beside, task, database)
}

func rebuildDatabase(ctx context.Context, task Task, database *Database) error {
	limit := &store.ChargeLimit{PerSecond: chargeLimit(task.Config)}
	report := &auditReport{to: task.Stdout, bar: auditBar{to: task.Stderr}}
	rebuilding := store.Rebuilding{
		Store:     database.Store,
		FromStart: task.Config.FromStart,
		Left:      func(d store.Drift) { report.found(d, false) },
		Progress:  report.bar.tell,
	}
	rebuilt, err := rebuilding.Run(limit.Context(ctx))
	report.bar.end()
	if err == nil && database.Engine != nil { // what it left to projectors, such as what follows from a deleted user
		err = makeViews(ctx, task, database)
	}
	if err != nil {
		return rebuildBrokenOff(ctx, task, err)
	}
	if rebuilt.Since != "" {
		task.Printf("a rebuild of %s was gone on with\n", rebuilt.Since)
	}
	task.Printf("%d posts, %d users and %d usernames were rebuilt for %.0f RU, in %s\n",
		rebuilt.Posts, rebuilt.Users, rebuilt.Usernames, limit.Spent(), database.Place)
	return rebuildVerdict(task, rebuilt)
}

// rebuildBrokenOff says how to go on. That somebody ended the rebuild is no error.
func rebuildBrokenOff(ctx context.Context, task Task, err error) error {
	const advice = "the rebuild was broken off, and the same command goes on with it"
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	_, damaged := errors.AsType[*damageError](err)
	switch {
	case damaged:
		return err
	case errors.Is(err, store.ErrRebuildTaken):
		return errors.New("another rebuild has begun meanwhile, and goes on with this one")
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(task.Stderr, advice)
		return nil
	}
	return fmt.Errorf("%s: %s", advice, firstLine(err))
}

// rebuildVerdict says what came of a rebuild. Error: something is not right.
func rebuildVerdict(task Task, rebuilt store.Rebuilt) error {
	if rebuilt.Restless > 0 {
		fmt.Fprintf(task.Stderr, "Of %d partitions nothing is known, because they changed whenever something differed there.\n", rebuilt.Restless)
	}
	mended := rebuilt.Differed - rebuilt.Restless
	switch {
	case rebuilt.Left > 0:
		return fmt.Errorf("%d things could not be made right", rebuilt.Left)
	case mended > 0:
		task.Printf("in %d of them something was not right, and is now\n", mended)
	case rebuilt.Restless == 0:
		task.Printf("everything was right\n")
	}
	return nil
}
