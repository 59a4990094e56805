package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// checkpoint is how far a copy from one source is, kept in leases of the database that is copied into. It is there
// only while a copy is not done: the next one begins at the beginning, and finds by the revisions what is new.
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

// openCheckpoint finds where a copy from the source was broken off.
func (s *database) openCheckpoint(ctx context.Context, source string) (*checkpoint, error) {
	sum := sha256.Sum256([]byte(source))
	c := &checkpoint{s, checkpointItem{
		ID: typeCopy + "." + hex.EncodeToString(sum[:16]), Type: typeCopy, Source: source, Continuations: map[string]string{},
	}}
	err := s.db.RetryTransient(ctx, func() error {
		item, _, err := cosmos.Read[checkpointItem](ctx, s.leases, c.item.ID, c.item.ID)
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

func (c *checkpoint) of(feed string) string { return c.item.Continuations[feed] }

func (c *checkpoint) forget(feed string) { delete(c.item.Continuations, feed) }

// Advance notes that everything up to the continuation is copied.
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

// Remove forgets the copy, which is done.
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
