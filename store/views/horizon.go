package views

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Horizon is the state of the feed: the position up to which posts were trimmed. The feed
// holds every newer post that is not deleted. A horizon without a position is below all posts:
// nothing was trimmed yet, and the feed holds all posts. A missing horizon means the same. The
// trigger truncateFeed raises the horizon, and a refill lowers it.
//
// The feed may hold some posts at or below the horizon, until the trigger deletes them as surplus.
// Projections turn those of deleted posts into tombstones. Others may be of earlier states: a
// refill that lowers the horizon below them writes them again.
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

// MoveHorizon moves a horizon to a position, and ends a refill. The zero position is below all
// posts. The feed must have all posts above the position. The horizon and its etag are as they were
// read; the etag is "" if there was none. Error: CONFLICT or NOT_FOUND if the horizon was written
// meanwhile.
func (v *Views) MoveHorizon(ctx context.Context, horizon Horizon, at FeedPosition, etag azcore.ETag) error {
	return writeCopy(ctx, v.feed, schema.FeedPartition, HorizonID, horizon.At(at), CopyState{ETag: etag})
}
