package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// checkpoint is the checkpoint of a copy from one source, an item of leases of the target. It
// exists until the copy is done. The next copy reads the feeds from the beginning again, and
// recognizes changed items by their revisions.
type checkpoint struct {
	database *database
	item     checkpointItem
}

type checkpointItem struct {
	ID            string            `json:"id"`
	Type          string            `json:"type"`
	Source        string            `json:"source"`
	Continuations map[string]string `json:"continuations"` // by container and feed range of the source
}

const typeCopy = "copy"

// openCheckpoint returns the checkpoint of an interrupted copy from the source, or a new one.
func (d *database) openCheckpoint(ctx context.Context, source string) (*checkpoint, error) {
	sum := sha256.Sum256([]byte(source))
	c := &checkpoint{d, checkpointItem{
		ID:            typeCopy + "." + hex.EncodeToString(sum[:16]),
		Type:          typeCopy,
		Source:        source,
		Continuations: map[string]string{},
	}}
	err := d.db.RetryTransient(ctx, func() error {
		item, _, err := cosmos.Read[checkpointItem](ctx, d.leases, c.item.ID, c.item.ID)
		if err == nil && item.Continuations != nil {
			c.item.Continuations = item.Continuations
		}
		return err
	})
	if cosmos.IsNotFound(err) {
		err = nil
	}
	return c, err
}

// continuation returns the continuation of a feed; empty at its beginning.
func (c *checkpoint) continuation(feed string) string { return c.item.Continuations[feed] }

// reset sets a feed back to its beginning.
func (c *checkpoint) reset(feed string) { delete(c.item.Continuations, feed) }

// advance saves that a feed is copied up to the continuation.
func (c *checkpoint) advance(ctx context.Context, feed, continuation string) error {
	c.item.Continuations[feed] = continuation
	text, err := cosmos.EncodeItem(c.item)
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	return c.database.db.RetryTransient(ctx, func() error {
		_, err := c.database.leases.UpsertItem(ctx, azcosmos.NewPartitionKeyString(c.item.ID), text, nil)
		return cosmos.ToBlogError(err)
	})
}

// remove deletes the checkpoint of a finished copy.
func (c *checkpoint) remove(ctx context.Context) error {
	err := c.database.db.RetryTransient(ctx, func() error {
		_, err := c.database.leases.DeleteItem(ctx, azcosmos.NewPartitionKeyString(c.item.ID), c.item.ID, nil)
		return cosmos.ToBlogError(err)
	})
	if cosmos.IsNotFound(err) {
		return nil
	}
	return err
}
