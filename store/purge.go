package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// What follows from a post's deletion is done in this order, so that it can be broken off anywhere and begun again: the
// copies become tombstones, then the purge is recorded, then the comments and likes go, and only then is the post given the ttl
// that ends it. Until then the change feed, read again, shows the post as deleted and without a ttl.

// Purge is the work that a deleted post leaves behind, whose copies are tombstones: its comments and likes must go. It is
// kept in leases until it is done.
type Purge struct {
	PostID string
	ETag   string // as it was read; another with every write
}

const (
	typePurge = "purge"

	purgesQuery = `SELECT * FROM c WHERE c.type = 'purge'`
)

type purgeItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	PostID string `json:"postId"`
	ETag   string `json:"_etag,omitempty"`
}

// Purges lists pending purges, in no order: as many as there are, at most. Somebody who had very many posts may have been deleted.
func (s *Store) Purges(ctx context.Context, most int) ([]Purge, error) {
	pager := s.containers[leasesContainer].NewQueryItemsPager(purgesQuery, azcosmos.NewPartitionKey(), nil)
	var purges []Purge
	for pager.More() && len(purges) < most {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, asBlogError(err)
		}
		items, err := decodeItems[purgeItem](nil, page.Items)
		if err != nil {
			return nil, err
		}
		for _, item := range items[:min(len(items), most-len(purges))] {
			purges = append(purges, Purge{item.PostID, item.ETag})
		}
	}
	return purges, nil
}

// RecordPurge writes a pending purge of a post whose copies are tombstones. One that is there is written anew, so that
// whoever is about to forget it does not.
func (s *Store) RecordPurge(ctx context.Context, postID string) error {
	id := purgeID(postID)
	text, err := itemJSON(purgeItem{ID: id, Type: typePurge, PostID: postID})
	if err != nil {
		return asBlogError(err)
	}
	_, err = s.containers[leasesContainer].UpsertItem(ctx, azcosmos.NewPartitionKeyString(id), text, nil)
	return asBlogError(err)
}

// Purge deletes the comments and likes of a post, page by page, at a pace, and then gives the post its ttl. It gives how many
// it found. Where more is true it was laid down before its end, so that others come in turn. It can be run again at any time,
// also where it was broken off or done.
//
// Error: what does not let itself be deleted (ConcernsItem) is told when all else is; anything else ends the purge. CONFLICT
// where the post is not marked as deleted, and NOT_FOUND where it is not there, as far as is known here: then nothing is done.
func (s *Store) Purge(ctx context.Context, purge Purge, pace *Pace) (n int, more bool, err error) {
	return s.purge(WithSession(ctx), purge.PostID, pace)
}

// PurgePost purges a post to the end, whether or not that is recorded. Of one that is gone nothing follows.
func (s *Store) PurgePost(ctx context.Context, postID string) error {
	pace := s.NewPace(1)
	for {
		_, more, err := s.purge(ctx, postID, pace)
		if isNotFound(err) {
			return nil
		}
		if err != nil || !more {
			return err
		}
	}
}

// purge reads the post first, in the session of ctx: whoever knows that it is deleted knows all that was said to it before, and
// nothing comes after, because the procedures add nothing to such a post.
func (s *Store) purge(ctx context.Context, postID string, pace *Pace) (n int, more bool, err error) {
	var post *postItem
	err = pace.do(ctx, func() (err error) {
		post, _, err = read[postItem](ctx, s.posts, postID, postID)
		return err
	})
	switch {
	case err != nil:
		return 0, false, err
	case !post.Deleted:
		return 0, false, blog.Errorf(blog.Conflict, "A post is not purged that is not marked as deleted.")
	}
	responses := &responsePurge{turn: newTurn(pace), store: s, postID: postID}
	more, err = responses.run(ctx)
	if more || err != nil {
		return responses.found, more, err
	}
	return responses.found, false, pace.do(ctx, func() error { return s.expirePost(ctx, postID) })
}

// ForgetPurge deletes a purge that is done, or was set aside: then the change of its post, once more, records it anew. Where it
// was recorded again meanwhile, that stays.
func (s *Store) ForgetPurge(ctx context.Context, purge Purge) error {
	return s.forget(ctx, purgeID(purge.PostID), purge.ETag)
}

func purgeID(postID string) string { return typePurge + "." + postID }
