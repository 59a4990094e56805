package command

import (
	"context"
	"fmt"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/seed"
)

var seedText = text{
	short: "Write a data set of the article's shape",
	long: `Writes users with 5 to 50 posts each, with up to 25 comments and 100 likes a post, and all views of them. Who gives the same
numbers again gets the same data: what is there is recognised, so that a run that was broken off goes on where it ended. It
may run beside a server, and writes to an account as fast as that allows.
`,
}

func runSeed(ctx context.Context, task Task) (err error) {
	database, ctx, err := OpenDatabase(ctx, task)
	if err != nil {
		return err
	}
	defer closing(&err, database.Close)
	number, users := uint64(task.Config.Seed), task.Config.Users
	set := seed.New(auth.LocalIssuer, number, users)
	posts, items := set.Size()
	if err := plant(ctx, task, database, set, items); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(task.Stderr, "The run was broken off. The same command goes on where it ended.")
		}
		return err
	}
	task.Printf("%d users with %d posts, %d items in all, are in %s\n", users, posts, items, database.Place)
	task.Printf("In development, this prints a token of the first of them: %s\n", tokenCommand(seed.Subject(number, users, 0), task.Config.Data))
	return nil
}

// plant writes the set and tells how far it is. Where nobody else has the engine, the projector then goes through what
// was written: it finds the views to be there, and the next server need not look.
func plant(ctx context.Context, task Task, database *Database, set *seed.Set, items int) error {
	told := newProgress(task.Stderr, "items", items)
	err := set.Write(ctx, database.Store, seed.Options{Written: told.add})
	told.end()
	if err != nil || database.Engine == nil {
		return err
	}
	fmt.Fprintln(task.Stderr, "All items are written; the projector goes through them.")
	return makeViews(ctx, task, database)
}
