package views

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// ExpireComment gives a comment that is marked as deleted the ttl that ends it. It changes nothing where the comment is
// gone, has its ttl, or is not deleted.
func (v *Views) ExpireComment(ctx context.Context, postID, commentID string) error {
	return v.expire(ctx, postID, commentID, azcosmos.PatchOperations{})
}

// expirePost gives a post that is marked as deleted, and after which nothing is left to do, its ttl, as ExpireComment does.
func (v *Views) expirePost(ctx context.Context, postID string) error {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/revision", 1)
	return v.expire(ctx, postID, postID, changes)
}

// expireCondition lets a ttl be set once, and on nothing that is not deleted.
const expireCondition = `FROM c WHERE c.deleted = true AND NOT IS_DEFINED(c.ttl)`

func (v *Views) expire(ctx context.Context, postID, id string, changes azcosmos.PatchOperations) error {
	changes.AppendSet("/ttl", int(DeletedTTL.Seconds()))
	changes.SetCondition(expireCondition)
	_, err := v.posts.PatchItem(ctx, azcosmos.NewPartitionKeyString(postID), id, changes, nil)
	if status, substatus := cosmos.StatusOf(err); status == http.StatusNotFound && substatus == 0 || status == http.StatusPreconditionFailed {
		return nil
	}
	return cosmos.ToBlogError(err)
}
