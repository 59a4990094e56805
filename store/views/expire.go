package views

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// ExpireComment sets the ttl of a deleted comment, after which the comment no longer exists. It
// changes nothing if the comment is missing, has its ttl, or is not deleted.
func (v *Views) ExpireComment(ctx context.Context, postID, commentID string) error {
	return v.expire(ctx, postID, commentID, azcosmos.PatchOperations{})
}

// expirePost is ExpireComment for a deleted post. All other work of the deletion must be done
// before.
func (v *Views) expirePost(ctx context.Context, postID string) error {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/revision", 1)
	return v.expire(ctx, postID, postID, changes)
}

// expireCondition allows a ttl to be set only once, and only on deleted items.
const expireCondition = `FROM c WHERE c.deleted = true AND NOT IS_DEFINED(c.ttl)`

func (v *Views) expire(ctx context.Context, postID, id string, changes azcosmos.PatchOperations) error {
	changes.AppendSet("/ttl", int(DeletedTTL.Seconds()))
	changes.SetCondition(expireCondition)
	_, err := v.posts.PatchItem(ctx, azcosmos.NewPartitionKeyString(postID), id, changes, nil)
	status, substatus := cosmos.StatusOf(err)
	if status == http.StatusNotFound && substatus == 0 || status == http.StatusPreconditionFailed {
		return nil
	}
	return cosmos.ToBlogError(err)
}
