package audit

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
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
	ID      string                     `json:"id"`
	Type    string                     `json:"type"`
	Run     string                     `json:"run"`               // random; identifies the run that wrote the item
	History string                     `json:"history,omitempty"` // changefeed.History.Name of the positions
	Begun   blog.DateTime              `json:"begun"`
	Feeds   map[string]rebuildPosition `json:"feeds"`
}

// rebuildPosition is the position in one feed, or in the query of a container, up to which a
// rebuild is done.
type rebuildPosition struct {
	Continuation string `json:"continuation"`
	Done         int64  `json:"done"` // LSN of the last change; by query, the number of items
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
		Feeds:   map[string]rebuildPosition{},
	}
	earlier, etag, err := cosmos.Read[rebuildItem](ctx, leases, typeRebuild, typeRebuild)
	if cosmos.IsNotFound(err) {
		c.etag, err = cosmos.Create(ctx, leases, typeRebuild, c.item)
		return err
	}
	if err != nil {
		return err
	}
	if len(earlier.Feeds) > 0 && earlier.History == history && !fromStart {
		c.item.Begun, c.item.Feeds, c.resumed = earlier.Begun, earlier.Feeds, true
	}
	c.etag, err = cosmos.Replace(ctx, leases, typeRebuild, typeRebuild, c.item, etag)
	return err
}

// position returns the position in a feed; the zero position if the feed was not begun.
func (c *rebuildCheckpoint) position(f changefeed.Feed) rebuildPosition {
	return c.item.Feeds[f.Name()]
}

// reset sets the feeds of a container back to their beginning, and reports whether any was begun.
func (c *rebuildCheckpoint) reset(container string) (changed bool) {
	for name := range c.item.Feeds {
		if strings.HasPrefix(name, container+".") {
			delete(c.item.Feeds, name)
			changed = true
		}
	}
	return changed
}

// advance saves that a feed is rebuilt up to a position. Error: ErrRebuildTaken.
func (c *rebuildCheckpoint) advance(
	ctx context.Context, f changefeed.Feed, position rebuildPosition,
) error {
	c.item.Feeds[f.Name()] = position
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
