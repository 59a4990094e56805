package store

import (
	"context"
	"net/http"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// What follows from a post's deletion is done in this order, so that it can be broken off anywhere and begun again: the
// copies become tombstones, then the comments and likes go, and only then is the post given the ttl that ends it. Until
// then the change feed, read again, shows the post as deleted and without a ttl.

const (
	responsesQuery = `SELECT c.id FROM c WHERE c.type IN ('comment', 'like')`

	// maxBatch is the service's limit on the operations of one transactional batch.
	maxBatch = 100
)

type responseRow struct {
	ID string `json:"id"`
}

// PurgePost deletes the comments and likes of a post that is marked as deleted. None come after: the procedures add
// nothing to such a post.
func (s *Store) PurgePost(ctx context.Context, postID string) error {
	responses, err := query[responseRow](ctx, s.posts, postID, responsesQuery, maxBatch)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(responses, maxBatch) {
		if err := s.deleteResponses(ctx, postID, batch); err != nil {
			return asBlogError(err)
		}
	}
	return nil
}

// deleteResponses deletes at most maxBatch items in one transaction where all of them are there. Otherwise some have
// expired, or another worker was faster, and the rest is deleted one by one.
func (s *Store) deleteResponses(ctx context.Context, postID string, responses []responseRow) error {
	partition := azcosmos.NewPartitionKeyString(postID)
	batch := s.posts.NewTransactionalBatch(partition)
	for _, response := range responses {
		batch.DeleteItem(response.ID, nil)
	}
	result, err := s.posts.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil || result.Success {
		return err
	}
	for _, response := range responses {
		_, err := s.posts.DeleteItem(ctx, partition, response.ID, nil)
		if err := asBlogError(err); err != nil && !isNotFound(err) {
			return err
		}
	}
	return nil
}

// ExpirePost gives a post that is marked as deleted, and after which nothing is left to do, the ttl that ends it. It
// changes nothing where the post is gone, has its ttl, or is not deleted.
func (s *Store) ExpirePost(ctx context.Context, postID string) error {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/revision", 1)
	return s.expire(ctx, postID, postID, changes)
}

// ExpireComment gives a comment that is marked as deleted its ttl, as ExpirePost does.
func (s *Store) ExpireComment(ctx context.Context, postID, commentID string) error {
	return s.expire(ctx, postID, commentID, azcosmos.PatchOperations{})
}

// expireCondition lets a ttl be set once, and on nothing that is not deleted.
const expireCondition = `FROM c WHERE c.deleted = true AND NOT IS_DEFINED(c.ttl)`

func (s *Store) expire(ctx context.Context, postID, id string, changes azcosmos.PatchOperations) error {
	changes.AppendSet("/ttl", int(DeletedTTL.Seconds()))
	changes.SetCondition(expireCondition)
	_, err := s.posts.PatchItem(ctx, azcosmos.NewPartitionKeyString(postID), id, changes, nil)
	if status, substatus := statusOf(err); status == http.StatusNotFound && substatus == 0 || status == http.StatusPreconditionFailed {
		return nil
	}
	return asBlogError(err)
}
