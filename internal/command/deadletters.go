package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cosmosblog/projector"
	"cosmosblog/store"
)

var deadlettersText = text{
	short: "List the changes that could not be projected, and retry them",
	long: `Prints the items whose changes were set aside after some attempts, with the reason of the last. With --retry it projects each item
again as it stands now, removes the letter where that was done or the item is gone, and ends with 1 where any is left. Both may run
beside servers and projectors.
`,
}

func runDeadletters(ctx context.Context, task Task) (err error) {
	database, ctx, err := openExisting(ctx, task)
	if err != nil {
		return err
	}
	defer closing(&err, database.Close)
	letters, err := database.Store.DeadLetters(ctx)
	if err != nil {
		return fmt.Errorf("the dead letters could not be read: %s", firstLine(err))
	}
	if len(letters) == 0 {
		task.Printf("there are no dead letters, in %s\n", database.Place)
		return nil
	}
	if task.Config.Retry {
		return retryLetters(ctx, task, database, letters)
	}
	task.Printf(letterRow, "container", "partition", "id", "projection", "attempts", "first", "last", "reason")
	for _, letter := range letters {
		printLetter(task, letter, letter.Reason)
	}
	return nil
}

// letterRow has room for the ids that this program makes.
const letterRow = "%-9s  %-28s  %-28s  %-10s  %8v  %-27s  %-27s  %s\n"

// printLetter prints one line, with what there is to say at its end.
func printLetter(task Task, letter store.DeadLetter, says string) {
	task.Printf(letterRow, letter.Container, cell(letter.PartitionKey), cell(letter.ItemID), cell(letter.Projection), letter.Attempts,
		letter.FirstDate, letter.Date, oneLine(says))
}

// longestLine is how many characters of a reason a table shows.
const longestLine = 300

// oneLine gives a text for the end of a line, without the rules that azcore draws into its errors.
func oneLine(text string) string {
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.Trim(word, "-") == "" })
	line := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.Join(words, " ")))
	if len(line) > longestLine {
		line = append(line[:longestLine-1], '…')
	}
	return string(line)
}

// gone says of a letter that was done that its item is not there; nothing of one that is, or may be.
func gone(ctx context.Context, s *store.Store, letter store.DeadLetter) string {
	items, err := s.SetAsideItems(ctx, letter)
	if err != nil || len(items) > 0 {
		return ""
	}
	return "done: the item is gone, and audit finds what it may have left"
}

// retryLetters retries letters one after another, and tells what came of each. Error: some are left.
func retryLetters(ctx context.Context, task Task, database *Database, letters []store.DeadLetter) error {
	task.Printf(letterRow, "container", "partition", "id", "projection", "attempts", "first", "last", "outcome")
	done := 0
	for _, letter := range letters {
		err := projector.Retry(ctx, database.Store, letter)
		switch {
		case err == nil:
			done++
			printLetter(task, letter, cmp.Or(gone(ctx, database.Store, letter), "done"))
		case errors.Is(err, store.ErrDeadLetterRenewed):
			printLetter(task, letter, "left: the item was set aside again meanwhile")
		case ctx.Err() == nil && store.ConcernsItem(err):
			printLetter(task, letter, "left: "+err.Error())
		default:
			return fmt.Errorf("broken off when %d of %d dead letters were done: %s", done, len(letters), firstLine(cmp.Or(context.Cause(ctx), err)))
		}
	}
	left, err := database.Store.DeadLetters(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%d of %d dead letters are done, and whether others are left could not be read: %s", done, len(letters), firstLine(err))
	case len(left) > 0:
		return fmt.Errorf("%d of %d dead letters are done, and %d are left", done, len(letters), len(left))
	}
	task.Printf("%d dead letters are done, in %s\n", done, database.Place)
	return nil
}
