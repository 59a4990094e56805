package chores

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// The package's tests use these.

const (
	MaxIdleExecutions = maxIdleExecutions
	ResponsesQuery    = responsesQuery
)

type UpdateUsernamesArgument = updateUsernamesArgument

func (c *Chores) ExpirePost(ctx context.Context, postID, authorID string) error {
	return c.expirePost(ctx, postID, authorID)
}

// CountSwept counts the partitions that a sweep still has to change.
func (c *Chores) CountSwept(ctx context.Context, sweep Sweep) (int, error) {
	rows, err := cosmos.QueryAcross[schema.PostID](ctx, c.posts, sweptPostsQuery,
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

func (c *Chores) UpdateUsernames(ctx context.Context, postID string, argument UpdateUsernamesArgument) (int, bool, error) {
	argument.PostID = postID
	return c.updateUsernames(ctx, &argument)
}
