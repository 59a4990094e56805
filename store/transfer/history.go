package transfer

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// HistoryError is returned by Copy if the source went back to an earlier state, and the target has,
// or may have, states that it lost.
type HistoryError struct{}

func (*HistoryError) Error() string {
	return "the source went back to an earlier state since it was copied: the target may have states that the source lost, " +
		"and later edits may not be copied: copy into an empty database or folder"
}

var _ cosmos.DefiniteError = (*HistoryError)(nil)

// IsDefinite implements cosmos.DefiniteError.
func (*HistoryError) IsDefinite() {}

// history reads the present history of the source.
func (c *copyRun) history(ctx context.Context) (history changefeed.History, err error) {
	err = c.from.db.RetryTransient(ctx, func() (err error) {
		history, err = c.from.feeds.History(ctx)
		return err
	})
	return history, err
}

// checkNotLost checks an item that has not changed since it was copied to the target's current one,
// if the source ever went back: it then may have lost the state that was copied. The item may have
// been read before that state. Error: *HistoryError.
func (c *copyRun) checkNotLost(
	from context.Context, container *azcosmos.ContainerClient, partition string, item, current storedItem,
) error {
	if c.checkpoint.item.History == "" || current.CopiedRevision <= item.Revision {
		return nil
	}
	now, _, err := readStored(from, container, partition, item.ID)
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case err == nil && now.CreationDate == current.CreationDate && now.Revision < current.CopiedRevision:
		return &HistoryError{}
	}
	return err
}
