package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// checkpoint has the positions of copies from one source, an item of leases of the target.
type checkpoint struct {
	database *database
	item     checkpointItem
}

type checkpointItem struct {
	ID        string            `json:"id"`
	Type      string            `json:"type"`
	Source    string            `json:"source"`
	Positions []follow.Position `json:"positions"`         // up to which the source is copied
	History   string            `json:"history,omitempty"` // of the source, to which the positions belong
}

const typeCopy = "copy"

// openCheckpoint returns the checkpoint of the last copy from the source. If there is none, it
// stores one at the beginning. Error: *EmptyTargetError.
func (c *copyRun) openCheckpoint(ctx, from context.Context, history changefeed.History) (*checkpoint, error) {
	sum := sha256.Sum256([]byte(c.options.Source))
	id := typeCopy + "." + hex.EncodeToString(sum[:16])
	var stored *checkpointItem
	err := c.to.db.RetryTransient(ctx, func() (err error) {
		stored, _, err = cosmos.Read[checkpointItem](ctx, c.to.leases, id, id)
		return err
	})
	switch {
	case err == nil && len(stored.Positions) == 0:
		return nil, errNotEmpty // an earlier version of this program has stored it
	case err == nil && stored.History != history.Name:
		return nil, errWentBack
	case err == nil:
		return &checkpoint{c.to, *stored}, nil
	case !cosmos.IsNotFound(err):
		return nil, err
	}
	if err := c.to.checkEmpty(ctx); err != nil {
		return nil, err
	}
	saved := &checkpoint{c.to, checkpointItem{ID: id, Type: typeCopy, Source: c.options.Source, History: history.Name}}
	if !history.HasWholeFeeds() {
		saved.item.Positions = allItems()
	}
	beginnings, err := c.from.feeds.Beginnings(from, copiedContainers...)
	if err != nil {
		return nil, err
	}
	saved.item.Positions = append(saved.item.Positions, beginnings...)
	return saved, saved.save(ctx)
}

func allItems() (positions []follow.Position) {
	for _, container := range copiedContainers {
		positions = append(positions, follow.Position{Feed: follow.AllItems(container)})
	}
	return positions
}

// checkEmpty checks that a target has no items of the copied containers. Error: *EmptyTargetError.
func (d *database) checkEmpty(ctx context.Context) error {
	for step, err := range d.feeds.Follower(1).Follow(ctx, allItems()) {
		if err != nil {
			return err
		}
		if len(step.Items) > 0 {
			return errNotEmpty
		}
	}
	return nil
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
