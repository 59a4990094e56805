package cli

import (
	"context"
	"fmt"

	"cosmosblog/cli/datafolder"
)

var checkText = text{
	short: "Checks a data folder, also while a server uses it",
	long: `Reads a consistent snapshot of a data folder, and compares items, change feed, indexes, expiry
times and definitions with each other. Prints a line for each fault, and exits with 1 if there is
one.
`,
}

func runCheck(ctx context.Context, task Task) error {
	var items, faults int
	bar := newProgress(task.Stderr, "items", 1) // the check reports the number of items
	err := datafolder.Check(ctx, task.Config.Data, datafolder.CheckReport{
		Progress: func(done, total int) {
			items = total
			bar.set(done, total)
		},
		Fault: func(line string) {
			faults++
			task.Printf("%s\n", line)
		},
	})
	bar.end()
	switch {
	case err != nil:
		return err
	case faults > 0:
		return fmt.Errorf("the data folder %s has %d faults", task.Config.Data, faults)
	}
	task.Printf("no faults found: %d items\n", items)
	return nil
}
