package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// horizonItem is the state of the feed: the position of the newest post that was ever trimmed. The feed holds every post
// that is newer and not deleted, and none at or below it but while it is filled again. Where there is no horizon, nothing was trimmed yet, and the
// feed holds all posts. The trigger truncateFeed raises it, and filling the feed again lowers it.
type horizonItem struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	CreationDate blog.DateTime `json:"creationDate"`
	PostID       string        `json:"postId"`

	// While the feed is filled again, and after who did that died, posts above a position below the horizon come in, too.
	Refilling    bool          `json:"refilling,omitempty"`
	RefillDate   blog.DateTime `json:"refillDate,omitempty"`
	RefillPostID string        `json:"refillPostId,omitempty"`
}

const horizonID = "horizon"

// horizonAt gives the horizon at a position, of a feed that is not being filled.
func horizonAt(position datedRow) horizonItem {
	return horizonItem{ID: horizonID, Type: typePost, CreationDate: position.CreationDate, PostID: position.ID}
}

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
	return newerFirst(datedRow{post.ID, post.CreationDate}, h.position()) < 0
}

// isRefilledWith tells whether the feed is being filled down to a position that lies below the post.
func (h horizonItem) isRefilledWith(post *blog.Post) bool {
	return h.Refilling && newerFirst(datedRow{post.ID, post.CreationDate}, h.refillTo()) < 0
}

func (h horizonItem) refillTo() datedRow { return datedRow{h.RefillPostID, h.RefillDate} }

// position gives where the horizon is.
func (h horizonItem) position() datedRow { return datedRow{h.PostID, h.CreationDate} }

// putHorizon puts the horizon at a position, where it is still as it was read; without an etag, where there is none yet. Nobody fills
// the feed any more then, and nothing is left below. A horizon before all posts is none. Error: that it was written meanwhile.
func (s *Store) putHorizon(ctx context.Context, at datedRow, etag azcore.ETag) error {
	if at.CreationDate == "" {
		return remove(ctx, s.feed, feedPartition, horizonID, etag)
	}
	text, err := itemJSON(horizonAt(at))
	if err != nil {
		return asBlogError(err)
	}
	key, options := azcosmos.NewPartitionKeyString(feedPartition), namingTruncateFeed()
	if etag == "" {
		_, err = s.feed.CreateItem(ctx, key, text, options)
		return s.unlessTriggerMissing(ctx, asBlogError(err))
	}
	options.IfMatchEtag = &etag
	_, err = s.feed.ReplaceItem(ctx, key, horizonID, text, options)
	if err = asBlogError(err); isOutrun(err) {
		return err
	}
	return s.unlessTriggerMissing(ctx, err)
}
