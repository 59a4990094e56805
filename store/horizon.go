package store

import (
	"context"
	"slices"

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

// clearingAt gives the horizon at a position while what lies below goes in parts. The feed is filled down to the horizon itself:
// nobody brings anything back below, and the mark has the next refill end this.
func clearingAt(position datedRow) horizonItem {
	horizon := horizonAt(position)
	horizon.Refilling, horizon.RefillDate, horizon.RefillPostID = true, position.CreationDate, position.ID
	return horizon
}

// mostParts bounds how many parts of what is below the horizon go in one call. Each goes for good, so that the next call has less to do.
const mostParts = 100

// putHorizon puts the horizon at a position, where it is still as it was read; without an etag, where there is none yet. Nobody fills
// the feed any more then, and nothing is left below: that goes with it, in one transaction, or in parts before it where it is too
// much for one. A horizon before all posts is none. Error: that it was written meanwhile.
func (s *Store) putHorizon(ctx context.Context, at datedRow, etag azcore.ETag) error {
	if at.CreationDate == "" {
		return remove(ctx, s.feed, feedPartition, horizonID, etag)
	}
	_, err := s.writeHorizon(ctx, horizonAt(at), etag)
	for n := 0; isOutOfTime(err) && n < mostParts; n++ {
		if etag, err = s.writeHorizon(ctx, clearingAt(at), etag); err != nil {
			return err
		}
		_, err = s.writeHorizon(ctx, horizonAt(at), etag)
	}
	return err
}

// shortenFeed takes the oldest copies that are too many out of the feed: one by one, so that nothing is left to do for somebody else
// where this one dies. Under a mark, the trigger that is refused something leaves it. Error: that the horizon was written meanwhile.
func (s *Store) shortenFeed(ctx context.Context) error {
	const mostSurplus = 1000
	horizon, etag, err := s.feedHorizon(ctx)
	if err != nil || horizon.Refilling {
		return err
	}
	live, err := s.newestCopies(ctx, feedCapacity+mostSurplus)
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(row datedRow) bool { return newerFirst(row, horizon.position()) >= 0 })
	for _, row := range slices.Backward(live[min(feedCapacity, len(live)):]) {
		if etag, err = s.writeHorizon(ctx, horizonAt(row), etag); err != nil {
			return err
		}
	}
	return nil
}

// writeHorizon writes the horizon and has the trigger delete what lies below.
func (s *Store) writeHorizon(ctx context.Context, horizon horizonItem, etag azcore.ETag) (azcore.ETag, error) {
	text, err := itemJSON(horizon)
	if err != nil {
		return "", asBlogError(err)
	}
	key, options := azcosmos.NewPartitionKeyString(feedPartition), namingTruncateFeed()
	var answer azcosmos.ItemResponse
	if etag == "" {
		answer, err = s.feed.CreateItem(ctx, key, text, options)
		return answer.ETag, s.unlessTriggerMissing(ctx, asBlogError(err))
	}
	options.IfMatchEtag = &etag
	answer, err = s.feed.ReplaceItem(ctx, key, horizonID, text, options)
	if err = asBlogError(err); isOutrun(err) {
		return "", err
	}
	return answer.ETag, s.unlessTriggerMissing(ctx, err)
}
