package views

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Horizon is the state of the feed: the position up to which posts were trimmed. The feed
// holds every newer post that is not deleted. It holds posts at or below the horizon only during a
// refill. A horizon without a position is below all posts: nothing was trimmed yet, and the feed
// holds all posts. A missing horizon means the same. The trigger truncateFeed raises the horizon,
// and a refill lowers it.
type Horizon struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	CreationDate blog.DateTime `json:"creationDate"`
	PostID       string        `json:"postId"`

	// During a refill, and after an interrupted one, posts above this position enter the feed too,
	// although they are below the horizon.
	Refilling    bool          `json:"refilling,omitempty"`
	RefillDate   blog.DateTime `json:"refillDate,omitempty"`
	RefillPostID string        `json:"refillPostId,omitempty"`

	// RefillID identifies the refill. A trim removes it, because the refill must then start again.
	RefillID string `json:"refillId,omitempty"`

	schema.ArrivalsItem

	// Room is the number of copies that may be created before truncateFeed searches for surplus
	// copies. It changes with each new copy, and says nothing about the horizon's position.
	Room int `json:"room,omitempty"`
}

// HorizonID is the id of the horizon in feed.
const HorizonID = schema.HorizonID

// HorizonAt returns the horizon at a position, without a refill.
func HorizonAt(position FeedPosition) Horizon {
	return Horizon{
		ID:           HorizonID,
		Type:         schema.TypePost,
		CreationDate: position.CreationDate,
		PostID:       position.ID,
	}
}

// At returns the horizon at another position, without a refill and without room.
func (h Horizon) At(position FeedPosition) Horizon {
	moved := HorizonAt(position)
	moved.ArrivalsItem = h.ArrivalsItem
	return moved
}

// ReadHorizon returns the horizon and its etag, or the zero horizon and no etag if there is none.
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

// isBelowAll reports whether the horizon is below all posts, so that a refill has nothing to
// restore.
func (h Horizon) isBelowAll() bool { return h.CreationDate == "" }

// Admits reports whether a post is above the horizon. The feed has copies of all such posts that
// are not deleted.
func (h Horizon) Admits(post *blog.Post) bool {
	return CompareNewestFirst(positionOf(post), h.Position()) < 0
}

// admitsDuringRefill reports whether a refill down to a position below the post has begun.
func (h Horizon) admitsDuringRefill(post *blog.Post) bool {
	return h.Refilling && CompareNewestFirst(positionOf(post), h.refillTo()) < 0
}

func (h Horizon) refillTo() FeedPosition { return FeedPosition{h.RefillDate, h.RefillPostID} }

// withoutArrivals returns the horizon without the properties that each new copy changes.
func (h Horizon) withoutArrivals() Horizon {
	h.Room, h.LastArrival = 0, ""
	return h
}

// Position returns the position of the horizon.
func (h Horizon) Position() FeedPosition { return FeedPosition{h.CreationDate, h.PostID} }

// clearingAt returns the horizon at another position, for the time in which the copies below it are
// deleted in parts. It is marked as a refill down to the horizon itself. So no projector writes
// copies below the horizon, and after a crash the next refill finishes the deletion.
func (h Horizon) clearingAt(position FeedPosition) Horizon {
	horizon := h.At(position)
	horizon.Refilling, horizon.RefillDate, horizon.RefillPostID = true, position.CreationDate, position.ID
	return horizon
}

// maxParts limits the number of transactions in which one call of MoveHorizon deletes the copies
// below the horizon. A later call continues.
const maxParts = 100

// MoveHorizon moves a horizon to a position, ends a refill, and deletes the copies below the
// horizon. It deletes them in the same transaction, or in several before it if they are too many
// for one. The zero position is below all posts. The horizon and its etag are as they were read;
// the etag is "" if there was none. Error: CONFLICT or NOT_FOUND if the horizon was written
// meanwhile.
func (v *Views) MoveHorizon(ctx context.Context, horizon Horizon, at FeedPosition, etag azcore.ETag) error {
	_, err := v.writeHorizon(ctx, horizon.At(at), etag)
	for n := 0; cosmos.IsScriptTimeout(err) && n < maxParts; n++ {
		if etag, err = v.writeHorizon(ctx, horizon.clearingAt(at), etag); err != nil {
			return err
		}
		_, err = v.writeHorizon(ctx, horizon.At(at), etag)
	}
	return err
}

// TrimFeed deletes the copies beyond FeedCapacity, the oldest first and one by one, so that a crash
// leaves the feed consistent. During a refill it does nothing, because the trigger then leaves the
// copies that it has no time to trim. Error: CONFLICT or NOT_FOUND if the horizon was written
// meanwhile.
func (v *Views) TrimFeed(ctx context.Context) error {
	const maxSurplus = 1000
	horizon, etag, err := v.ReadHorizon(ctx)
	if err != nil || horizon.Refilling {
		return err
	}
	live, err := v.newestCopies(ctx, FeedCapacity+maxSurplus)
	if err != nil {
		return err
	}
	live = keepAbove(live, horizon.Position())
	for _, row := range slices.Backward(live[min(FeedCapacity, len(live)):]) {
		if etag, err = v.writeHorizon(ctx, horizon.At(row), etag); err != nil {
			return err
		}
	}
	return nil
}

// keepAbove removes the positions that are not above another, in place.
func keepAbove(positions []FeedPosition, other FeedPosition) []FeedPosition {
	return slices.DeleteFunc(positions, func(p FeedPosition) bool { return CompareNewestFirst(p, other) >= 0 })
}

// writeHorizon writes the horizon with the trigger, which deletes the copies below it.
func (v *Views) writeHorizon(
	ctx context.Context, horizon Horizon, etag azcore.ETag,
) (azcore.ETag, error) {
	text, err := cosmos.EncodeItem(horizon)
	if err != nil {
		return "", cosmos.ToBlogError(err)
	}
	key, options := azcosmos.NewPartitionKeyString(schema.FeedPartition), cosmos.WithTrigger(schema.TruncateFeed)
	var answer azcosmos.ItemResponse
	err = v.db.WriteWithTrigger(ctx, schema.TruncateFeed, string(text), func(ctx context.Context) (err error) {
		if etag == "" {
			answer, err = v.feed.CreateItem(ctx, key, text, options)
			return err
		}
		options.IfMatchEtag = &etag
		answer, err = v.feed.ReplaceItem(ctx, key, HorizonID, text, options)
		return err
	})
	if err = cosmos.ToBlogError(err); etag != "" && cosmos.IsRaceLost(err) {
		return "", err
	}
	return answer.ETag, v.orMissingTrigger(ctx, err)
}
