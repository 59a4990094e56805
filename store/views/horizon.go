package views

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Horizon is the state of the feed: the position of the newest post that was ever trimmed. The feed holds every post
// that is newer and not deleted, and none at or below it but while it is filled again. Where there is no horizon, nothing was trimmed yet, and the
// feed holds all posts. The trigger truncateFeed raises it, and filling the feed again lowers it.
type Horizon struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	CreationDate blog.DateTime `json:"creationDate"`
	PostID       string        `json:"postId"`

	// While the feed is filled again, and after who did that died, posts above a position below the horizon come in, too.
	Refilling    bool          `json:"refilling,omitempty"`
	RefillDate   blog.DateTime `json:"refillDate,omitempty"`
	RefillPostID string        `json:"refillPostId,omitempty"`
}

const HorizonID = "horizon"

// HorizonAt gives the horizon at a position, of a feed that is not being filled.
func HorizonAt(position Position) Horizon {
	return Horizon{ID: HorizonID, Type: schema.TypePost, CreationDate: position.CreationDate, PostID: position.ID}
}

// ReadHorizon reads the horizon and its etag; the zero horizon, without an etag, where there is none.
func (v *Views) ReadHorizon(ctx context.Context) (Horizon, azcore.ETag, error) {
	horizon, etag, err := cosmos.Read[Horizon](ctx, v.feed, schema.FeedPartition, HorizonID)
	if cosmos.IsNotFound(err) {
		return Horizon{}, "", nil
	}
	if err != nil {
		return Horizon{}, "", err
	}
	return *horizon, etag, nil
}

// IsBelow tells whether the post is newer than the horizon.
func (h Horizon) IsBelow(post *blog.Post) bool {
	return CompareNewestFirst(Position{post.ID, post.CreationDate}, h.Position()) < 0
}

// isRefilledWith tells whether the feed is being filled down to a position that lies below the post.
func (h Horizon) isRefilledWith(post *blog.Post) bool {
	return h.Refilling && CompareNewestFirst(Position{post.ID, post.CreationDate}, h.refillTo()) < 0
}

func (h Horizon) refillTo() Position { return Position{h.RefillPostID, h.RefillDate} }

// Position gives where the horizon is.
func (h Horizon) Position() Position { return Position{h.PostID, h.CreationDate} }

// clearingAt gives the horizon at a position while what lies below goes in parts. The feed is filled down to the horizon itself:
// nobody brings anything back below, and the mark has the next refill end this.
func clearingAt(position Position) Horizon {
	horizon := HorizonAt(position)
	horizon.Refilling, horizon.RefillDate, horizon.RefillPostID = true, position.CreationDate, position.ID
	return horizon
}

// mostParts bounds how many parts of what is below the horizon go in one call. Each goes for good, so that the next call has less to do.
const mostParts = 100

// MoveHorizon puts the horizon at a position, where it is still as it was read; without an etag, where there is none yet. Nobody fills
// the feed any more then, and nothing is left below: that goes with it, in one transaction, or in parts before it where it is too
// much for one. A horizon before all posts is none. Error: that it was written meanwhile.
func (v *Views) MoveHorizon(ctx context.Context, at Position, etag azcore.ETag) error {
	if at.CreationDate == "" {
		return cosmos.Delete(ctx, v.feed, schema.FeedPartition, HorizonID, etag)
	}
	_, err := v.writeHorizon(ctx, HorizonAt(at), etag)
	for n := 0; cosmos.IsScriptTimeout(err) && n < mostParts; n++ {
		if etag, err = v.writeHorizon(ctx, clearingAt(at), etag); err != nil {
			return err
		}
		_, err = v.writeHorizon(ctx, HorizonAt(at), etag)
	}
	return err
}

// shortenFeed takes the oldest copies that are too many out of the feed: one by one, so that nothing is left to do for somebody else
// where this one dies. Under a mark, the trigger that is refused something leaves it. Error: that the horizon was written meanwhile.
func (v *Views) shortenFeed(ctx context.Context) error {
	const mostSurplus = 1000
	horizon, etag, err := v.ReadHorizon(ctx)
	if err != nil || horizon.Refilling {
		return err
	}
	live, err := v.newestCopies(ctx, FeedCapacity+mostSurplus)
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(row Position) bool { return CompareNewestFirst(row, horizon.Position()) >= 0 })
	for _, row := range slices.Backward(live[min(FeedCapacity, len(live)):]) {
		if etag, err = v.writeHorizon(ctx, HorizonAt(row), etag); err != nil {
			return err
		}
	}
	return nil
}

// writeHorizon writes the horizon and has the trigger delete what lies below.
func (v *Views) writeHorizon(ctx context.Context, horizon Horizon, etag azcore.ETag) (azcore.ETag, error) {
	text, err := cosmos.EncodeItem(horizon)
	if err != nil {
		return "", cosmos.ToBlogError(err)
	}
	key, options := azcosmos.NewPartitionKeyString(schema.FeedPartition), withTruncateFeed()
	var answer azcosmos.ItemResponse
	if etag == "" {
		answer, err = v.feed.CreateItem(ctx, key, text, options)
		return answer.ETag, v.orMissingTrigger(ctx, cosmos.ToBlogError(err))
	}
	options.IfMatchEtag = &etag
	answer, err = v.feed.ReplaceItem(ctx, key, HorizonID, text, options)
	if err = cosmos.ToBlogError(err); cosmos.IsRaceLost(err) {
		return "", err
	}
	return answer.ETag, v.orMissingTrigger(ctx, err)
}
