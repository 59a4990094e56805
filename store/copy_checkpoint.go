package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// copyCheckpoint is how far a copy from one source is, kept in leases of the database that is copied into. It is there
// only while a copy is not done: the next one begins at the beginning, and finds by the revisions what is new.
type copyCheckpoint struct {
	store *Store
	item  copyCheckpointItem
}

type copyCheckpointItem struct {
	ID            string            `json:"id"`
	Type          string            `json:"type"`
	Source        string            `json:"source"`
	Continuations map[string]string `json:"continuations"` // by container and feed range of the source
}

const typeCopy = "copy"

// openCopyCheckpoint finds where a copy from the source was broken off.
func (s *Store) openCopyCheckpoint(ctx context.Context, source string) (*copyCheckpoint, error) {
	sum := sha256.Sum256([]byte(source))
	c := &copyCheckpoint{s, copyCheckpointItem{
		ID: typeCopy + "." + hex.EncodeToString(sum[:16]), Type: typeCopy, Source: source, Continuations: map[string]string{},
	}}
	err := s.persist(ctx, func() error {
		item, _, err := read[copyCheckpointItem](ctx, s.containers[leasesContainer], c.item.ID, c.item.ID)
		if err == nil && item.Continuations != nil {
			c.item.Continuations = item.Continuations
		}
		return err
	})
	if isNotFound(err) {
		err = nil
	}
	return c, err
}

func (c *copyCheckpoint) of(feed string) string { return c.item.Continuations[feed] }

func (c *copyCheckpoint) forget(feed string) { delete(c.item.Continuations, feed) }

// advance notes that everything up to the continuation is copied.
func (c *copyCheckpoint) advance(ctx context.Context, feed, continuation string) error {
	c.item.Continuations[feed] = continuation
	text, err := itemJSON(c.item)
	if err != nil {
		return asBlogError(err)
	}
	return c.store.persist(ctx, func() error {
		_, err := c.store.containers[leasesContainer].UpsertItem(ctx, azcosmos.NewPartitionKeyString(c.item.ID), text, nil)
		return asBlogError(err)
	})
}

// remove forgets the copy, which is done.
func (c *copyCheckpoint) remove(ctx context.Context) error {
	err := c.store.persist(ctx, func() error {
		_, err := c.store.containers[leasesContainer].DeleteItem(ctx, azcosmos.NewPartitionKeyString(c.item.ID), c.item.ID, nil)
		return asBlogError(err)
	})
	if isNotFound(err) {
		return nil
	}
	return err
}
