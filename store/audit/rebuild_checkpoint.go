package audit

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// rebuildCheckpoint is how far a rebuild is, kept in leases until that is done. One run at a time moves it: who begins
// takes it from whoever had it.
type rebuildCheckpoint struct {
	database *database
	item     rebuildItem
	etag     azcore.ETag
	goesOn   bool // an earlier run had come somewhere
}

type rebuildItem struct {
	ID    string                     `json:"id"`
	Type  string                     `json:"type"`
	Run   string                     `json:"run"` // another with every run: tells whose write it was
	Begun blog.DateTime              `json:"begun"`
	Feeds map[string]rebuildPosition `json:"feeds"`
}

// rebuildPosition is how far one feed range is done.
type rebuildPosition struct {
	Continuation string `json:"continuation"`
	Done         int64  `json:"done"` // the number of the last change
}

const typeRebuild = "rebuild"

// ErrRebuildTaken tells that another run went on with a rebuild.
var ErrRebuildTaken = cosmos.NewConclusion("audit: another rebuild has begun and continues this one")

// openRebuildCheckpoint finds where a rebuild was broken off, or begins one.
func (s *database) openRebuildCheckpoint(ctx context.Context, fromStart bool) (*rebuildCheckpoint, error) {
	c := &rebuildCheckpoint{database: s}
	err := s.db.RetryTransient(ctx, func() error {
		return cosmos.RetryOnConflict(func() error {
			c.item = rebuildItem{ID: typeRebuild, Type: typeRebuild, Run: rand.Text(), Begun: blog.NewDateTime(s.db.Now()), Feeds: map[string]rebuildPosition{}}
			c.goesOn = false
			earlier, etag, err := cosmos.Read[rebuildItem](ctx, s.leases, typeRebuild, typeRebuild)
			if cosmos.IsNotFound(err) {
				c.etag, err = cosmos.Create(ctx, s.leases, typeRebuild, c.item)
				return err
			}
			if err != nil {
				return err
			}
			if len(earlier.Feeds) > 0 && !fromStart {
				c.item.Begun, c.item.Feeds, c.goesOn = earlier.Begun, earlier.Feeds, true
			}
			c.etag, err = cosmos.Replace(ctx, s.leases, typeRebuild, typeRebuild, c.item, etag)
			return err
		})
	})
	return c, err
}

func (c *rebuildCheckpoint) of(f changefeed.Feed) rebuildPosition {
	return c.item.Feeds[changefeed.FeedName(f.Container, f.FeedRange)]
}

// forget begins a container at its beginning, and tells whether that is another position.
func (c *rebuildCheckpoint) forget(container string) (forgot bool) {
	for name := range c.item.Feeds {
		if strings.HasPrefix(name, container+".") {
			delete(c.item.Feeds, name)
			forgot = true
		}
	}
	return forgot
}

// advance notes that everything up to a position is rebuilt. Error: ErrRebuildTaken.
func (c *rebuildCheckpoint) advance(ctx context.Context, f changefeed.Feed, position rebuildPosition) error {
	c.item.Feeds[changefeed.FeedName(f.Container, f.FeedRange)] = position
	return c.database.db.RetryTransient(ctx, func() error {
		etag, err := cosmos.Replace(ctx, c.database.leases, typeRebuild, typeRebuild, c.item, c.etag)
		if cosmos.IsRaceLost(err) {
			etag, err = c.again(ctx)
		}
		if err == nil {
			c.etag = etag
		}
		return err
	})
}

// again writes the checkpoint where the last write was ours, and its answer got lost.
func (c *rebuildCheckpoint) again(ctx context.Context) (azcore.ETag, error) {
	current, etag, err := cosmos.Read[rebuildItem](ctx, c.database.leases, typeRebuild, typeRebuild)
	switch {
	case cosmos.IsNotFound(err) || err == nil && current.Run != c.item.Run:
		return "", ErrRebuildTaken
	case err != nil:
		return "", err
	}
	return cosmos.Replace(ctx, c.database.leases, typeRebuild, typeRebuild, c.item, etag)
}

// remove forgets the rebuild, which is done. One that another run has taken is that run's to forget.
func (c *rebuildCheckpoint) remove(ctx context.Context) error {
	err := c.database.db.RetryTransient(ctx, func() error {
		return cosmos.Delete(ctx, c.database.leases, typeRebuild, typeRebuild, c.etag)
	})
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}
