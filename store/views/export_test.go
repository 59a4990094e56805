package views

import (
	"context"
	"time"

	"cosmosblog/blog"
)

// The package's tests use these.

const (
	RefillBelow    = refillBelow
	ResponsesQuery = responsesQuery
)

var (
	ErrBackfilled = errBackfilled
)

type UpdateUsernamesArgument = updateUsernamesArgument

func (v *Views) RefillFeedOnce(ctx context.Context) error { return v.refillFeed(ctx) }

func (v *Views) ExpirePost(ctx context.Context, postID, authorID string) error {
	return v.expirePost(ctx, postID, authorID)
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
