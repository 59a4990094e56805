package views

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
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
func (s *Views) Purges(ctx context.Context, most int) ([]Purge, error) {
	pager := s.leases.NewQueryItemsPager(purgesQuery, azcosmos.NewPartitionKey(), nil)
	var purges []Purge
	for pager.More() && len(purges) < most {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, cosmos.ToBlogError(err)
		}
		items, err := cosmos.DecodeItems[purgeItem](nil, page.Items)
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
func (s *Views) RecordPurge(ctx context.Context, postID string) error {
	id := PurgeID(postID)
	text, err := cosmos.EncodeItem(purgeItem{ID: id, Type: typePurge, PostID: postID})
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	_, err = s.leases.UpsertItem(ctx, azcosmos.NewPartitionKeyString(id), text, nil)
	return cosmos.ToBlogError(err)
}

// Purge deletes the comments and likes of a post, page by page, at a pace, and then gives the post its ttl. It gives how many
// it found. Where more is true it was laid down before its end, so that others come in turn. It can be run again at any time,
// also where it was broken off or done.
//
// Error: what does not let itself be deleted (IsItemError) is told when all else is; anything else ends the purge. CONFLICT
// where the post is not marked as deleted, and NOT_FOUND where it is not there, as far as is known here: then nothing is done.
func (s *Views) Purge(ctx context.Context, purge Purge, pace *Throttler) (n int, more bool, err error) {
	return s.purge(cosmos.WithSession(ctx), purge.PostID, pace)
}

// PurgePost purges a post to the end, whether or not that is recorded. Of one that is gone nothing follows.
func (s *Views) PurgePost(ctx context.Context, postID string) error {
	pace := s.NewThrottler(1)
	for {
		_, more, err := s.purge(ctx, postID, pace)
		if cosmos.IsNotFound(err) {
			return nil
		}
		if err != nil || !more {
			return err
		}
	}
}

// purge reads the post first, in the session of ctx: whoever knows that it is deleted knows all that was said to it before, and
// nothing comes after, because the procedures add nothing to such a post.
func (s *Views) purge(ctx context.Context, postID string, pace *Throttler) (n int, more bool, err error) {
	var post *schema.PostItem
	err = pace.do(ctx, func() (err error) {
		post, _, err = cosmos.Read[schema.PostItem](ctx, s.posts, postID, postID)
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
func (s *Views) ForgetPurge(ctx context.Context, purge Purge) error {
	return s.forget(ctx, PurgeID(purge.PostID), purge.ETag)
}

func PurgeID(postID string) string { return typePurge + "." + postID }

const (
	ResponsesQuery = `SELECT c.id FROM c WHERE c.type IN ('comment', 'like')`
)

type ResponseRow struct {
	ID string `json:"id"`
}

// responsePurge deletes the comments and likes of a post, for one turn.
type responsePurge struct {
	*turn
	store  *Views
	postID string
	found  int
}

// run deletes until nothing is left, or the turn is over. A query of several pages might lose its place among what is left, as
// what it found is deleted: it is asked anew, until it finds nothing.
func (p *responsePurge) run(ctx context.Context) (more bool, err error) {
	for {
		before := p.found
		pages, more, err := p.once(ctx)
		if pages <= 1 || p.found == before || more || err != nil {
			return more, err
		}
	}
}

// once deletes what the query finds, and gives of how many pages that was. No more than one of them is in memory.
func (p *responsePurge) once(ctx context.Context) (pages int, more bool, err error) {
	pager := p.store.posts.NewQueryItemsPager(ResponsesQuery, azcosmos.NewPartitionKeyString(p.postID), &azcosmos.QueryOptions{
		PageSizeHint: cosmos.MaxBatchOperations,
	})
	more, err = pagesAtPace(ctx, p.turn, pager, func(page []ResponseRow) (bool, error) {
		pages++
		if len(page) == 0 {
			return false, nil
		}
		p.found, p.worked = p.found+len(page), true
		return false, p.pace.do(ctx, func() error { return p.remove(ctx, page) })
	})
	if more || err != nil {
		return pages, more, err
	}
	return pages, false, errors.Join(p.refused.kept...)
}

// remove deletes at most maxBatch items in one transaction where all of them are there and none refuses it. Otherwise some
// have expired, or another worker was faster, or one is in the way, and they are deleted one by one.
func (p *responsePurge) remove(ctx context.Context, responses []ResponseRow) error {
	batch := p.store.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(p.postID))
	for _, response := range responses {
		batch.DeleteItem(response.ID, nil)
	}
	result, err := p.store.posts.ExecuteTransactionalBatch(ctx, batch, nil)
	if err = cosmos.ToBlogError(err); err == nil && result.Success {
		return nil
	}
	if err != nil && !cosmos.IsItemError(err) {
		return err
	}
	for _, response := range responses {
		if err := p.refused.take(ctx, p.removeOne(ctx, response.ID)); err != nil {
			return err
		}
	}
	return nil
}

func (p *responsePurge) removeOne(ctx context.Context, id string) error {
	_, err := p.store.posts.DeleteItem(ctx, azcosmos.NewPartitionKeyString(p.postID), id, nil)
	if err = cosmos.ToBlogError(err); cosmos.IsNotFound(err) {
		return nil
	}
	return err
}
