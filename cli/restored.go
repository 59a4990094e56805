package cli

import (
	"context"
	"errors"
	"fmt"

	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/changefeed"
)

var restoredText = text{
	short: "Says that the database was restored to an earlier state",
	long: `Run it after an account or its containers were restored, or a data folder was replaced by a plain
copy of its files or by a snapshot of a disk. A folder that is replaced by a backup of the command
backup does not need it, unless that backup was opened before. Positions in change feeds that were
stored before are void then: exports and copies begin again, and on an account, projectors rebuild
the views. It may run alongside servers and projectors.

`,
}

func runRestored(ctx context.Context, task Task) error {
	return withExisting(ctx, task, func(r *lifecycle.Runner, database *datafolder.Database) error {
		present, err := endHistory(r.Context(), database)
		if cause := context.Cause(r.Context()); err != nil && cause != nil {
			err = cause
		}
		if _, damaged := errors.AsType[*datafolder.DamageError](err); err != nil && !damaged {
			err = fmt.Errorf("the history could not be ended: %s: run the same command again", firstLine(err))
		}
		if err != nil {
			return err
		}
		task.Printf("the history %s begins, in %s\n", present.Name, database.Place)
		if !database.IsFolder() {
			task.Printf("the projectors rebuild the views\n")
		}
		task.Printf("exports and interrupted copies begin again\n")
		return nil
	})
}

// endHistory ends the history of a database. The containers of a data folder went back together, so
// its leases stay valid.
func endHistory(ctx context.Context, database *datafolder.Database) (changefeed.History, error) {
	const reason = "the command restored was run"
	feeds := changefeed.New(database.DB)
	if database.IsFolder() {
		return feeds.EndHistoryKeepingLeases(ctx, "", reason)
	}
	present, err := feeds.History(ctx)
	if err != nil {
		return present, err
	}
	return feeds.EndHistory(ctx, present.Name, reason)
}
