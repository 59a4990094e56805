package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/projector"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

var deadlettersText = text{
	short: "Lists the changes that could not be projected, and retries them",
	long: `Lists the changes that could not be projected, with the reason of the last failure. With --retry
it projects the present state of each item. It removes the dead letter if that succeeds or the item
no longer exists, and exits with 1 if a dead letter remains. It may run alongside servers and
projectors.

`,
}

func runDeadletters(ctx context.Context, task Task) error {
	return withExisting(ctx, task, func(r *lifecycle.Runner, database *datafolder.Database) error {
		letters, err := changefeed.New(database.DB).DeadLetters(r.Context())
		if err != nil {
			return fmt.Errorf("the dead letters could not be read: %s", firstLine(err))
		}
		if len(letters) == 0 {
			task.Printf("there are no dead letters, in %s\n", database.Place)
			return nil
		}
		if task.Config.Retry {
			return retryLetters(r.Context(), task, database, letters)
		}
		printLetterTitle(task, "reason")
		for _, letter := range letters {
			printLetter(task, letter, letter.Reason)
		}
		return nil
	})
}

// letterRow has room for the ids that this program generates.
const letterRow = "%-9s  %-28s  %-28s  %-10s  %8v  %-27s  %-27s  %s\n"

func printLetterTitle(task Task, last string) {
	task.Printf(letterRow, "container", "partition", "id", "projection", "attempts", "first", "last", last)
}

// printLetter prints a row. remark is its last cell.
func printLetter(task Task, letter changefeed.DeadLetter, remark string) {
	task.Printf(letterRow, letter.Container, cell(letter.PartitionKey), cell(letter.ItemID), cell(letter.Projection),
		letter.Attempts, letter.FirstDate, letter.Date, oneLine(remark))
}

// retryLetters retries dead letters one after another, and prints the outcomes. It returns an
// error if any is left.
func retryLetters(ctx context.Context, task Task, database *datafolder.Database, letters []changefeed.DeadLetter) error {
	printLetterTitle(task, "outcome")
	changes, done := changefeed.New(database.DB), 0
	for _, letter := range letters {
		err := projector.Retry(ctx, database.DB, letter)
		switch {
		case err == nil:
			done++
			printLetter(task, letter, successRemark(ctx, changes, letter))
		case errors.Is(err, changefeed.ErrDeadLetterChanged):
			printLetter(task, letter, "left: the item failed again during the retry")
		case ctx.Err() == nil && cosmos.IsItemError(err):
			printLetter(task, letter, "left: "+err.Error())
		default:
			return fmt.Errorf("interrupted after %d of %d dead letters were done: %s",
				done, len(letters), firstLine(cmp.Or(context.Cause(ctx), err)))
		}
	}
	left, err := changes.DeadLetters(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%d of %d dead letters are done; the others could not be read: %s",
			done, len(letters), firstLine(err))
	case len(left) > 0:
		return fmt.Errorf("%d of %d dead letters are done, and %d are left", done, len(letters), len(left))
	}
	task.Printf("%d dead letters are done, in %s\n", done, database.Place)
	return nil
}

// successRemark returns the remark for a successfully retried letter.
func successRemark(ctx context.Context, changes *changefeed.Feeds, letter changefeed.DeadLetter) string {
	items, err := changes.DeadLetterChanges(ctx, letter)
	if err == nil && len(items) == 0 {
		return "done: the item no longer exists; run audit to find its remaining copies"
	}
	return "done"
}
