package cli

import (
	"context"
	"errors"

	"cosmosblog/cli/datafolder"
	"cosmosblog/guard/auth"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/seed"
)

var seedText = text{
	short: "Writes a sample data set with all its views",
	long: `Writes users with 5 to 50 posts each, up to 25 comments and 100 likes per post, and all their
views. The same --users and --seed always produce the same data. Interrupted runs resume. It may
run alongside a server, and writes to an account as fast as its throughput allows. Until it is done,
its users must not be renamed or deleted: their posts would keep the former names. audit finds them.
`,
}

func runSeed(ctx context.Context, task Task) error {
	err := writeSeed(ctx, task)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errors.New("the data set is incomplete, because seed was interrupted: run the same command to resume it")
	}
	return err
}

func writeSeed(ctx context.Context, task Task) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		database, err := OpenDatabase(r, task)
		if err != nil {
			return err
		}
		number, users := uint64(task.Config.Seed), task.Config.Users
		set := seed.New(auth.LocalIssuer, number, users)
		posts, items := set.Size()
		if err := writeSet(r.Context(), task, database, set, items); err != nil {
			return err
		}
		task.Printf("%d users with %d posts, %d items in all, are in %s\n", users, posts, items, database.Place)
		task.Printf("In development, this prints a token of the first user: %s\n",
			tokenCommand(seed.Subject(number, users, 0), task.Config.Data))
		return nil
	})
}

// writeSet writes the set and shows the progress. If this process runs the engine, a projector
// then reads the changes, so that the next server need not. The views are already written.
func writeSet(ctx context.Context, task Task, database *datafolder.Database, set *seed.Set, items int) error {
	bar := newProgress(task.Stderr, "items", items)
	err := set.Write(ctx, database.DB, bar.add)
	bar.end()
	if err != nil || !database.OwnsEngine() {
		return err
	}
	task.note("All items are written. The projector reads their changes.")
	return projectAll(ctx, task, database)
}
