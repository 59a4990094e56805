package views

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// FeedView is the view of the most recent posts, in the only partition of the container feed.
//
// The horizon is the position up to which posts were trimmed. A post without a copy gets
// one only if it is above the horizon, or if a refill has begun that includes it. Live copies are
// created by writes with the trigger truncateFeed. In the same transaction, the trigger checks the
// horizon again and trims surplus copies. ProjectGroup creates several copies in one transaction
// that writes the horizon, as far as its room allows. Every deleted post gets a tombstone, whether
// or not it was in the feed.
func (v *Views) FeedView() PostView {
	return PostView{schema.Feed, schema.FeedPartition, feedPosts{v}, v.feed}
}

// feedPosts are the copies of the most recent posts.
type feedPosts struct{ *Views }

// admission admits the posts above the horizon, until its room is used up. The transaction takes
// the room, on condition that the horizon was not written meanwhile. The trigger would do the same,
// so the transaction needs no trigger. Only the trigger trims the feed.
func (f feedPosts) admission(ctx context.Context) (admission, error) {
	horizon, etag, err := f.ReadHorizon(ctx)
	last := horizon.LastArrival
	return admission{
		admits: horizon.Admits,
		refuses: func(post *blog.Post) bool {
			return !horizon.Admits(post) && !horizon.admitsDuringRefill(post)
		},
		room: horizon.Room,
		arrive: func() blog.DateTime {
			last = blog.NewDateTime(f.db.Now()).After(last)
			return last
		},
		account: func(batch *azcosmos.TransactionalBatch, created int) { takeRoom(batch, etag, created, last) },
	}, err
}

// takeRoom adds the changes of the horizon to a transaction that creates copies: of the room, and
// of the last arrival.
func takeRoom(batch *azcosmos.TransactionalBatch, etag azcore.ETag, created int, last blog.DateTime) {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/room", int64(-created))
	changes.AppendSet("/lastArrival", last)
	batch.PatchItem(HorizonID, changes, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})
}

func (feedPosts) seen(post *blog.Post) *blog.Post { return post }

// copyOf implements postCopies. A copy that is replaced keeps its arrival date.
func (feedPosts) copyOf(post *blog.Post, current CopyState) any {
	if post.Deleted {
		return FeedCopyOf(post)
	}
	return schema.FeedItem{PostItem: newCopy(post), ArrivalDate: current.ArrivalDate}
}

func (feedPosts) patch(post *blog.Post) (condition string, changes azcosmos.PatchOperations) {
	return patchCounts(post)
}

func (feedPosts) follow(context.Context, []projected) error { return nil }

// begin waits for the groups before this one, at most maxTurn for each. Each transaction that
// creates copies writes the horizon, and so makes all others fail that have read it.
func (f feedPosts) begin(ctx context.Context) (end func(), err error) { return f.feedGroup.take(ctx) }

// write writes the copy. Error: *schema.MissingError if the trigger is not registered. Then the
// change is not set aside.
func (f feedPosts) write(ctx context.Context, post *blog.Post, current CopyState) error {
	if current.exists() || post.Deleted {
		return writeCopy(ctx, f.feed, schema.FeedPartition, post.ID, f.copyOf(post, current), current)
	}
	return f.create(ctx, post)
}

// create creates the copy. The trigger moves the arrival date on if a later one was given before,
// and removes that of a copy below the horizon, which a refill restores.
func (f feedPosts) create(ctx context.Context, post *blog.Post) error {
	text, err := cosmos.EncodeItem(f.copyOf(post, CopyState{ArrivalDate: blog.NewDateTime(f.db.Now())}))
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	purpose := fmt.Sprint(post.ID, " ", post.Revision)
	err = f.db.WriteWithTrigger(ctx, schema.TruncateFeed, purpose, func(ctx context.Context) error {
		key := azcosmos.NewPartitionKeyString(schema.FeedPartition)
		_, err := f.feed.CreateItem(ctx, key, text, cosmos.WithTrigger(schema.TruncateFeed))
		return err
	})
	return f.orMissingTrigger(ctx, cosmos.ToBlogError(err))
}

// orMissingTrigger returns a *schema.MissingError instead of the error of a write with the trigger,
// if the trigger is not registered. The service returns the same error as for an invalid item.
// With an Entra ID token, the trigger cannot be read. Then it counts as missing if the answer to
// the creation of an item was 404, or if the error names the trigger.
func (v *Views) orMissingTrigger(ctx context.Context, err error) error {
	if cosmos.IsThrottled(err) {
		return err // an operation of the trigger was rejected
	}
	status, _ := cosmos.StatusOf(err)
	notFound := cosmos.IsItemMissing(err)
	if !notFound && status != http.StatusBadRequest {
		return err
	}
	_, exists, readErr := v.db.ReadScript(ctx, schema.TruncateFeed)
	switch {
	case cosmos.IsManagementForbidden(readErr):
		exists = !notFound && !strings.Contains(err.Error(), schema.TruncateFeed.ID)
	case readErr != nil:
		return cosmos.ToBlogError(readErr)
	}
	if exists {
		return err
	}
	return schema.NewMissingError(v.db, nil, []string{schema.TruncateFeed.ID})
}
