package cli

import (
	"context"
	"errors"
	"fmt"

	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/follow"
	"cosmosblog/store/transfer"
)

var copyText = text{
	short: "Copies a blog from one data folder or account to another",
	long: `Copies users, posts, comments and likes, then builds all views at the target. The target is
empty, or has what earlier runs copied from the same source. Nobody may write there until the last
run is done: later runs do not notice it, and overwrite it or build on it. The source may be in use.
Interrupted runs resume, and a repeated one copies what has changed since. If the source went back to
an earlier state, or the last run is older than six days, the target must be empty.
`,
}

func runCopy(ctx context.Context, task Task) error {
	if err := checkEnds(task.Config); err != nil {
		return err
	}
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		c := task.Config
		source := withDatabase(task, c.From, c.FromKey, "COPY_FROM_KEY")
		from, err := openSource(r, source)
		if err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		target := withDatabase(task, c.To, c.ToKey, "COPY_TO_KEY")
		to, err := OpenDatabase(r, target)
		if err != nil {
			return fmt.Errorf("--to: %w", err)
		}
		copied, err := copyItems(r.Context(), task, from, to)
		if err != nil {
			return copyInterrupted(task, err)
		}
		task.Printf("copied %d users, %d posts, %d comments and %d likes from %s\n",
			copied.Users, copied.Posts, copied.Comments, copied.Likes, from.Place)
		if err := projectAll(r.Context(), target, to); err != nil {
			return fmt.Errorf("all items are copied, but not all views are built; "+
				"the target's projector will build them: %w", err)
		}
		task.Printf("all views are built, in %s\n", to.Place)
		return nil
	})
}

// copyInterrupted returns the error of a copy that did not finish, with advice. It returns nil if
// a signal ended it.
func copyInterrupted(task Task, err error) error {
	const advice = "the copy was interrupted: run the same command to resume it"
	_, damaged := errors.AsType[*datafolder.DamageError](err)
	_, refused := errors.AsType[*transfer.EmptyTargetError](err)
	switch {
	case damaged, refused:
		return err
	case errors.Is(err, context.Canceled):
		task.note(advice)
		return nil
	}
	return fmt.Errorf("%s (%s)", advice, firstLine(err))
}

// checkEnds rejects a source folder that does not exist, which opening would create, and a copy
// onto itself.
func checkEnds(c config.Config) error {
	from, to := config.ParsePlace(c.From), config.ParsePlace(c.To)
	if from.Endpoint != "" {
		if from == to {
			return errors.New("--from and --to are the same database")
		}
		return nil
	}
	if err := datafolder.CheckExists(from.Folder); err != nil {
		return err
	}
	if to.Folder != "" && datafolder.IsSame(from.Folder, to.Folder) {
		return errors.New("--from and --to are the same data folder")
	}
	return nil
}

// openSource opens the source of the copy until r closes. It writes nothing to the database.
func openSource(r *lifecycle.Runner, task Task) (*datafolder.Database, error) {
	options := task.database()
	options.ReadOnly = true
	return datafolder.Open(r, options)
}

// withDatabase returns the task with the source or the target of the copy as its database.
func withDatabase(task Task, text, key, keyName string) Task {
	c, place := &task.Config, config.ParsePlace(text)
	c.Data, c.Endpoint, c.Database = place.Folder, place.Endpoint, place.Database
	if c.Endpoint != "" {
		c.Key, c.KeyName = key, keyName
	}
	return task
}

func copyItems(ctx context.Context, task Task, from, to *datafolder.Database) (transfer.Copied, error) {
	bar := feedBar{to: task.Stderr}
	copied, err := transfer.Copy(ctx, from.DB, to.DB, transfer.Options{
		Source:   sourceName(task.Config),
		Progress: func(p follow.Progress, _ transfer.Copied) { bar.update(int(p.Done), int(p.Total)) },
	})
	bar.end()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return copied, err
}

// sourceName returns the name by which the next run recognises the source.
func sourceName(c config.Config) string {
	from := config.ParsePlace(c.From)
	return placeName(from.Endpoint, from.Folder, from.Database)
}
