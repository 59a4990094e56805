package store

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// ProjectUserPost brings the short copy of a post in its author's partition of users up to date, as ProjectFeedPost does
// in feed, and their postCount with it: a copy that comes is counted, and one that becomes a tombstone is counted no more,
// each in one transaction. That is not a change of the user: their revision stays.
func (s *Store) ProjectUserPost(ctx context.Context, post *blog.Post) (bool, error) {
	v := view{s.users, post.Author.ID}
	return v.project(ctx, post, func(ctx context.Context, post *blog.Post, current copyState) (bool, error) {
		more := countedCopies(post, current)
		if more == 0 {
			return v.write(ctx, post, current)
		}
		return v.writeCounting(ctx, post, current, more)
	})
}

// countedCopies tells by how much the user has more live copies once the post's copy is written.
func countedCopies(post *blog.Post, current copyState) int64 {
	var more int64
	if !post.Deleted {
		more++
	}
	if current.isThere() && !current.Deleted {
		more--
	}
	return more
}

// writeCounting is write in one transaction with the user's postCount.
func (v view) writeCounting(ctx context.Context, post *blog.Post, current copyState, more int64) (bool, error) {
	batch, err := v.countingBatch(post, current, more)
	if err != nil {
		return false, err
	}
	response, err := v.container.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil || response.Success {
		return err == nil, asBlogError(err)
	}
	if len(response.OperationResults) > 0 {
		if response.OperationResults[0].StatusCode == http.StatusNotFound {
			return v.write(ctx, post, current) // the user is gone: there is no count to change
		}
	}
	return false, batchRefusal(response)
}

// countingBatch adds to the user's postCount and writes the copy over the state that was read.
func (v view) countingBatch(post *blog.Post, current copyState, more int64) (azcosmos.TransactionalBatch, error) {
	batch := v.container.NewTransactionalBatch(azcosmos.NewPartitionKeyString(v.partition))
	text, err := itemJSON(copyOf(post))
	if err != nil {
		return batch, asBlogError(err)
	}
	batch.PatchItem(v.partition, countingPosts(more), nil)
	if current.isThere() {
		batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &current.ETag})
	} else {
		batch.CreateItem(text, nil)
	}
	return batch, nil
}

// countingPosts adds to a user's postCount. It is no change of the user: the revision stays.
func countingPosts(more int64) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/postCount", more)
	return changes
}
