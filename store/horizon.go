package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
)

// horizonItem is the state of the feed: the position of the newest post that was ever trimmed. The feed holds every post
// that is newer and not deleted, and none at or below it. Where there is no horizon, nothing was trimmed yet, and the
// feed holds all posts. The trigger truncateFeed raises it, and filling the feed again lowers it.
type horizonItem struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	CreationDate blog.DateTime `json:"creationDate"`
	PostID       string        `json:"postId"`
}

const horizonID = "horizon"

// feedHorizon reads the horizon and its etag; the zero horizon, without an etag, where there is none.
func (s *Store) feedHorizon(ctx context.Context) (horizonItem, azcore.ETag, error) {
	horizon, etag, err := read[horizonItem](ctx, s.feed, feedPartition, horizonID)
	if isNotFound(err) {
		return horizonItem{}, "", nil
	}
	if err != nil {
		return horizonItem{}, "", err
	}
	return *horizon, etag, nil
}

// isBefore tells whether the post is newer than the horizon.
func (h horizonItem) isBefore(post *blog.Post) bool {
	if post.CreationDate != h.CreationDate {
		return post.CreationDate > h.CreationDate
	}
	return post.ID > h.PostID
}

// position gives where the horizon is.
func (h horizonItem) position() datedRow { return datedRow{h.PostID, h.CreationDate} }
