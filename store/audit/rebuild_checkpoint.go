package audit

import (
	"context"
	"crypto/rand"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// rebuildCheckpoint is the checkpoint of a rebuild, an item of leases that exists until the
// rebuild is done. Only one run may advance it: a new run takes it over from the previous run.
type rebuildCheckpoint struct {
	database *database
	item     rebuildItem
	etag     azcore.ETag
	resumed  bool // an interrupted run had made progress
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
func (d *database) openRebuildCheckpoint(
	ctx context.Context, history string, fromStart bool,
) (*rebuildCheckpoint, error) {
	c := &rebuildCheckpoint{database: d}
	err := d.db.RetryTransient(ctx, func() error {
		return cosmos.RetryOnConflict(func() error { return c.open(ctx, history, fromStart) })
	})
	return c, err
}

// open reads an existing checkpoint and writes that of this run.
func (c *rebuildCheckpoint) open(ctx context.Context, history string, fromStart bool) error {
	leases := c.database.leases
	c.resumed = false
	c.item = rebuildItem{
		ID:      typeRebuild,
		Type:    typeRebuild,
		Run:     rand.Text(),
		History: history,
		Begun:   blog.NewDateTime(c.database.db.Now()),
	}
	earlier, etag, err := cosmos.Read[rebuildItem](ctx, leases, typeRebuild, typeRebuild)
	if cosmos.IsNotFound(err) {
		c.etag, err = cosmos.Create(ctx, leases, typeRebuild, c.item)
		return err
	}
	if err != nil {
		return err
	}
	if len(earlier.Positions) > 0 && earlier.History == history && !fromStart {
		c.item.Begun, c.item.Positions, c.resumed = earlier.Begun, earlier.Positions, true
	}
	c.etag, err = cosmos.Replace(ctx, leases, typeRebuild, typeRebuild, c.item, etag)
	return err
}

// advance saves that all is rebuilt up to positions. Error: ErrRebuildTaken.
func (c *rebuildCheckpoint) advance(ctx context.Context, positions []follow.Position) error {
	c.item.Positions = positions
	return c.database.db.RetryTransient(ctx, func() error {
		etag, err := c.replace(ctx, c.etag)
		if cosmos.IsRaceLost(err) {
			etag, err = c.replaceOwn(ctx)
		}
		if err == nil {
			c.etag = etag
		}
		return err
	})
}

func (c *rebuildCheckpoint) replace(ctx context.Context, etag azcore.ETag) (azcore.ETag, error) {
	return cosmos.Replace(ctx, c.database.leases, typeRebuild, typeRebuild, c.item, etag)
}

// replaceOwn replaces the checkpoint if this run wrote it last, and only the response to that write
// was lost. Error: ErrRebuildTaken.
func (c *rebuildCheckpoint) replaceOwn(ctx context.Context) (azcore.ETag, error) {
	current, etag, err := cosmos.Read[rebuildItem](ctx, c.database.leases, typeRebuild, typeRebuild)
	switch {
	case cosmos.IsNotFound(err) || err == nil && current.Run != c.item.Run:
		return "", ErrRebuildTaken
	case err != nil:
		return "", err
	}
	return c.replace(ctx, etag)
}

// remove deletes the checkpoint of a finished rebuild, unless another run has taken it over.
func (c *rebuildCheckpoint) remove(ctx context.Context) error {
	err := c.database.db.RetryTransient(ctx, func() error {
		return cosmos.Delete(ctx, c.database.leases, typeRebuild, typeRebuild, c.etag)
	})
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}
