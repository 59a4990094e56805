package views

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// The package's tests use these.

const (
	MaxIdleExecutions = maxIdleExecutions
	RefillBelow       = refillBelow
	ResponsesQuery    = responsesQuery
)

var (
	ErrBackfilled = errBackfilled
)

type UpdateUsernamesArgument = updateUsernamesArgument

func (v *Views) RefillFeedOnce(ctx context.Context) error { return v.refillFeed(ctx) }

func (v *Views) ExpirePost(ctx context.Context, postID, authorID string) error {
	return v.expirePost(ctx, postID, authorID)
}

// CountSwept counts the partitions that a sweep still has to change.
func (v *Views) CountSwept(ctx context.Context, sweep Sweep) (int, error) {
	rows, err := cosmos.QueryAcross[schema.PostID](ctx, v.posts, sweptPostsQuery,
		azcosmos.QueryParameter{Name: "@userId", Value: sweep.UserID},
		azcosmos.QueryParameter{Name: "@authorRevision", Value: sweep.AuthorRevision})
	posts := map[schema.PostID]bool{}
	for _, row := range rows {
		posts[row] = true
	}
	return len(posts), err
}

func RunStep(ctx context.Context, pace Pace, s func(context.Context) (int, bool, error)) (changed int, err error) {
	return step(s).run(ctx, pace)
}

func (v *Views) WriteFeedCopy(ctx context.Context, post *blog.Post, current CopyState) error {
	return feedPosts{v}.write(ctx, post, current)
}

func (v *Views) UpdateUsernames(ctx context.Context, postID string, argument UpdateUsernamesArgument) (int, bool, error) {
	argument.PostID = postID
	return v.updateUsernames(ctx, &argument)
}

// TakeTurnsForever makes groups of the feed wait for their turn, however long others take.
func (v *Views) TakeTurnsForever() { v.feedGroup = newTurn(time.Hour) }
