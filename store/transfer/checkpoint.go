package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// checkpoint is the checkpoint of copies from one source, an item of leases of the target. After a
// copy is done, it has no continuations: the next copy reads the feeds from the beginning again,
// and recognizes changed items by their revisions.
type checkpoint struct {
	database *database
	item     checkpointItem
}

type checkpointItem struct {
	ID            string            `json:"id"`
	Type          string            `json:"type"`
	Source        string            `json:"source"`
	Continuations map[string]string `json:"continuations"`     // of the source, by Feed.Name; of the query, by that of an empty range
	History       string            `json:"history,omitempty"` // of the source, to which all here belongs
	IsDone        bool              `json:"isDone,omitempty"`  // an earlier copy was done
	// BeganAgain says that the target may have states that the source lost, because the history ended
	// in which the copy began.
	BeganAgain bool `json:"beganAgain,omitempty"`
}

const typeCopy = "copy"

// openCheckpoint returns the checkpoint of an interrupted copy from a history of the source, or a
// new one. Error: *HistoryError if a copy of another history was done.
func (d *database) openCheckpoint(ctx context.Context, source, history string) (*checkpoint, error) {
	sum := sha256.Sum256([]byte(source))
	c := &checkpoint{d, checkpointItem{
		ID:            typeCopy + "." + hex.EncodeToString(sum[:16]),
		Type:          typeCopy,
		Source:        source,
		Continuations: map[string]string{},
		History:       history,
	}}
	var stored *checkpointItem
	err := d.db.RetryTransient(ctx, func() (err error) {
		stored, _, err = cosmos.Read[checkpointItem](ctx, d.leases, c.item.ID, c.item.ID)
		return err
	})
	switch {
	case cosmos.IsNotFound(err):
		return c, nil
	case err != nil:
		return nil, err
	case stored.History != history && stored.IsDone:
		return nil, &HistoryError{}
	case stored.History != history:
		c.item.BeganAgain = true
		return c, nil
	}
	c.item.IsDone, c.item.BeganAgain = stored.IsDone, stored.BeganAgain
	maps.Copy(c.item.Continuations, stored.Continuations)
	return c, nil
}

// continuation returns the continuation of a feed; empty at its beginning.
func (c *checkpoint) continuation(feed changefeed.Feed) string {
	return c.item.Continuations[feed.Name()]
}

// reset sets all feeds back to their beginnings, and reports whether any was not there.
func (c *checkpoint) reset() bool {
	n := len(c.item.Continuations)
	clear(c.item.Continuations)
	return n > 0
}

// advance saves that a feed is copied up to the continuation.
func (c *checkpoint) advance(ctx context.Context, feed changefeed.Feed, continuation string) error {
	c.item.Continuations[feed.Name()] = continuation
	return c.save(ctx)
}

// beginAgain drops the progress of an interrupted copy. Error: *HistoryError if an earlier copy was
// done.
func (c *checkpoint) beginAgain(ctx context.Context) error {
	if c.item.IsDone {
		return &HistoryError{}
	}
	clear(c.item.Continuations)
	c.item.BeganAgain = true
	return c.save(ctx)
}

// mayHaveLost reports whether a post or user of the target, which has the revision of the source's
// item, may all the same have a state that the source lost. One that has changed in the target
// since it was copied stays as it is.
func (c *checkpoint) mayHaveLost(item, current storedItem) bool {
	return c.item.BeganAgain && item.Revision == current.CopiedRevision && current.Revision == current.CopiedRevision
}

// finish saves that a copy is done.
func (c *checkpoint) finish(ctx context.Context) error {
	clear(c.item.Continuations)
	c.item.IsDone, c.item.BeganAgain = true, false
	return c.save(ctx)
}

func (c *checkpoint) save(ctx context.Context) error {
	text, err := cosmos.EncodeItem(c.item)
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	return c.database.db.RetryTransient(ctx, func() error {
		_, err := c.database.leases.UpsertItem(ctx, azcosmos.NewPartitionKeyString(c.item.ID), text, nil)
		return cosmos.ToBlogError(err)
	})
}
