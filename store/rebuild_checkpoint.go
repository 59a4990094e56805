package store

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
)

// rebuildCheckpoint is how far a rebuild is, kept in leases until that is done. One run at a time moves it: who begins
// takes it from whoever had it.
type rebuildCheckpoint struct {
	store  *Store
	item   rebuildItem
	etag   azcore.ETag
	goesOn bool // an earlier run had come somewhere
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
var ErrRebuildTaken = errors.New("store: another rebuild has begun meanwhile, and goes on with this one")

// openRebuildCheckpoint finds where a rebuild was broken off, or begins one.
func (s *Store) openRebuildCheckpoint(ctx context.Context, fromStart bool) (*rebuildCheckpoint, error) {
	c := &rebuildCheckpoint{store: s}
	err := s.persist(ctx, func() error {
		return whileOutrun(func() error {
			c.item = rebuildItem{ID: typeRebuild, Type: typeRebuild, Run: rand.Text(), Begun: blog.NewDateTime(s.now()), Feeds: map[string]rebuildPosition{}}
			c.goesOn = false
			earlier, etag, err := read[rebuildItem](ctx, s.containers[leasesContainer], typeRebuild, typeRebuild)
			if isNotFound(err) {
				c.etag, err = create(ctx, s.containers[leasesContainer], typeRebuild, c.item)
				return err
			}
			if err != nil {
				return err
			}
			if len(earlier.Feeds) > 0 && !fromStart {
				c.item.Begun, c.item.Feeds, c.goesOn = earlier.Begun, earlier.Feeds, true
			}
			c.etag, err = replace(ctx, s.containers[leasesContainer], typeRebuild, typeRebuild, c.item, etag)
			return err
		})
	})
	return c, err
}

func (c *rebuildCheckpoint) of(f feed) rebuildPosition {
	return c.item.Feeds[feedName(f.container, f.FeedRange)]
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
func (c *rebuildCheckpoint) advance(ctx context.Context, f feed, position rebuildPosition) error {
	c.item.Feeds[feedName(f.container, f.FeedRange)] = position
	return c.store.persist(ctx, func() error {
		etag, err := replace(ctx, c.store.containers[leasesContainer], typeRebuild, typeRebuild, c.item, c.etag)
		if isOutrun(err) {
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
	current, etag, err := read[rebuildItem](ctx, c.store.containers[leasesContainer], typeRebuild, typeRebuild)
	switch {
	case isNotFound(err) || err == nil && current.Run != c.item.Run:
		return "", ErrRebuildTaken
	case err != nil:
		return "", err
	}
	return replace(ctx, c.store.containers[leasesContainer], typeRebuild, typeRebuild, c.item, etag)
}

// remove forgets the rebuild, which is done. One that another run has taken is that run's to forget.
func (c *rebuildCheckpoint) remove(ctx context.Context) error {
	err := c.store.persist(ctx, func() error {
		return remove(ctx, c.store.containers[leasesContainer], typeRebuild, typeRebuild, c.etag)
	})
	if isOutrun(err) {
		return nil
	}
	return err
}
