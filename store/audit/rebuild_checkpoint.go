package audit

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// rebuildCheckpoint is the checkpoint of a rebuild, an item of leases that exists until the
// rebuild is done. Only one run may advance it: a new run takes it over from the previous run.
type rebuildCheckpoint struct {
	db      *cosmos.DB
	leases  *azcosmos.ContainerClient
	item    rebuildItem
	resumed bool // an interrupted run had made progress
}

type rebuildItem struct {
	ID        string            `json:"id"`
	Type      string            `json:"type"`
	Run       string            `json:"run"`               // random; identifies the run that wrote the item
	History   string            `json:"history,omitempty"` // changefeed.History.Name of the positions
	Begun     blog.DateTime     `json:"begun"`
	Positions []follow.Position `json:"positions,omitempty"` // in all containers, up to which the rebuild is done
}

const typeRebuild = "rebuild"

// ErrRebuildTaken is returned by Rebuild if another run has taken the rebuild over.
var ErrRebuildTaken = cosmos.NewDefiniteError("audit: another rebuild has begun and continues this one")

// openRebuildCheckpoint takes over the checkpoint of an interrupted rebuild, or creates one.
// history is the name of the present history.
func openRebuildCheckpoint(ctx context.Context, db *cosmos.DB, history string, fromStart bool) (*rebuildCheckpoint, error) {
	c := &rebuildCheckpoint{db: db, leases: db.Container(schema.Leases)}
	err := db.RetryTransient(ctx, func() error {
		return cosmos.RetryOnConflict(func() error { return c.open(ctx, history, fromStart) })
	})
	return c, err
}

// open reads an existing checkpoint and writes that of this run.
func (c *rebuildCheckpoint) open(ctx context.Context, history string, fromStart bool) error {
	c.resumed = false
	c.item = rebuildItem{
		ID:      typeRebuild,
		Type:    typeRebuild,
		Run:     rand.Text(),
		History: history,
		Begun:   blog.NewDateTime(c.db.Now()),
	}
	earlier, etag, err := cosmos.Read[rebuildItem](ctx, c.leases, typeRebuild, typeRebuild)
	if cosmos.IsNotFound(err) {
		_, err = cosmos.Create(ctx, c.leases, typeRebuild, c.item)
		return err
	}
	if err != nil {
		return err
	}
	if len(earlier.Positions) > 0 && earlier.History == history && !fromStart {
		c.item.Begun, c.item.Positions, c.resumed = earlier.Begun, earlier.Positions, true
	}
	_, err = cosmos.Replace(ctx, c.leases, typeRebuild, typeRebuild, c.item, etag)
	return err
}

// advance saves that all is rebuilt up to positions. Error: ErrRebuildTaken.
func (c *rebuildCheckpoint) advance(ctx context.Context, positions []follow.Position) error {
	var changes azcosmos.PatchOperations
	changes.AppendSet("/positions", positions)
	err := c.db.RetryTransient(ctx, func() error {
		return cosmos.PatchIf(ctx, c.leases, typeRebuild, typeRebuild, fmt.Sprintf("c.run = '%s'", c.item.Run), changes)
	})
	if cosmos.IsRaceLost(err) {
		return ErrRebuildTaken
	}
	return err
}

// remove deletes the checkpoint of a finished rebuild, unless another run has taken it over.
func (c *rebuildCheckpoint) remove(ctx context.Context) error {
	err := c.db.RetryTransient(ctx, func() error {
		current, etag, err := cosmos.Read[rebuildItem](ctx, c.leases, typeRebuild, typeRebuild)
		if err != nil || current.Run != c.item.Run {
			return err
		}
		return cosmos.Delete(ctx, c.leases, typeRebuild, typeRebuild, etag)
	})
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}
