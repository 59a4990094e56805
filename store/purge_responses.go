package store

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

const (
	responsesQuery = `SELECT c.id FROM c WHERE c.type IN ('comment', 'like')`

	// maxBatch is the service's limit on the operations of one transactional batch.
	maxBatch = 100
)

type responseRow struct {
	ID string `json:"id"`
}

// responsePurge deletes the comments and likes of a post, for one turn.
type responsePurge struct {
	*turn
	store  *Store
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
	pager := p.store.posts.NewQueryItemsPager(responsesQuery, azcosmos.NewPartitionKeyString(p.postID), &azcosmos.QueryOptions{
		PageSizeHint: maxBatch,
	})
	more, err = pagesAtPace(ctx, p.turn, pager, func(page []responseRow) (bool, error) {
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
func (p *responsePurge) remove(ctx context.Context, responses []responseRow) error {
	batch := p.store.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(p.postID))
	for _, response := range responses {
		batch.DeleteItem(response.ID, nil)
	}
	result, err := p.store.posts.ExecuteTransactionalBatch(ctx, batch, nil)
	if err = asBlogError(err); err == nil && result.Success {
		return nil
	}
	if err != nil && !ConcernsItem(err) {
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
	if err = asBlogError(err); isNotFound(err) {
		return nil
	}
	return err
}
