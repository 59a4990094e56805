package chores

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// ExpireComment sets the ttl of a deleted comment, after which the comment no longer exists. It
// changes nothing if the comment is missing, has its ttl, or is not deleted. authorID is the id of
// the comment's author.
//
// With its ttl, the comment becomes an item that only its id finds. It loses its text, and
// authorId replaces userId, by which chores find the items of a user.
func (c *Chores) ExpireComment(ctx context.Context, postID, commentID, authorID string) error {
	var changes azcosmos.PatchOperations
	changes.AppendSet("/excerpt", "")
	return c.expire(ctx, postID, commentID, authorID, changes)
}

// expirePost is ExpireComment for a deleted post. All other work of the deletion must be done
// before.
func (c *Chores) expirePost(ctx context.Context, postID, authorID string) error {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/revision", 1)
	changes.AppendSet("/head", blog.PostHead{})
	changes.AppendSet("/recentComments", []schema.RecentComment{})
	return c.expire(ctx, postID, postID, authorID, changes)
}

// expireCondition allows a ttl to be set only once, and only on deleted items.
const expireCondition = "c.deleted = true and not is_defined(c.ttl)"

func (c *Chores) expire(
	ctx context.Context, postID, id, authorID string, changes azcosmos.PatchOperations,
) error {
	changes.AppendSet("/ttl", int(views.DeletedTTL.Seconds()))
	changes.AppendSet("/content", "")
	if authorID != "" { // otherwise the item is damaged and has no userId
		changes.AppendSet("/authorId", authorID)
		changes.AppendRemove("/userId")
	}
	return unlessRaceLost(cosmos.PatchIf(ctx, c.posts, postID, id, expireCondition, changes))
}
