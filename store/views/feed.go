package views

import (
	"context"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
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
	return PostView{
		Container: schema.Feed,
		Partition: schema.FeedPartition,
		client:    v.feed,
		admission: v.admitToFeed,
		copyOf:    FeedCopyOf,
		write:     v.writeFeedCopy,
	}
}

// ProjectFeedPost brings the copy of a post in the feed up to date (PostView.Project). Error:
// *schema.MissingError if the trigger is not registered. Then the change is not set aside.
func (v *Views) ProjectFeedPost(ctx context.Context, post *blog.Post) (written bool, err error) {
	return v.FeedView().Project(ctx, post)
}

// writeFeedCopy writes the copy. If there are more surplus copies than the trigger can trim in one
// execution, writeFeedCopy trims the feed first.
func (v *Views) writeFeedCopy(ctx context.Context, post *blog.Post, current CopyState) error {
	if current.exists() || post.Deleted {
		return writeCopy(ctx, v.feed, schema.FeedPartition, post.ID, FeedCopyOf(post), current)
	}
	err := v.createFeedCopy(ctx, post)
	if cosmos.IsScriptTimeout(err) {
		if err = v.TrimFeed(ctx); err == nil {
			err = v.createFeedCopy(ctx, post)
		}
	}
	return err
}

func (v *Views) createFeedCopy(ctx context.Context, post *blog.Post) error {
	text, err := cosmos.EncodeItem(FeedCopyOf(post))
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	_, err = v.feed.CreateItem(ctx, azcosmos.NewPartitionKeyString(schema.FeedPartition), text, withTruncateFeed())
	return v.orMissingTrigger(ctx, cosmos.ToBlogError(err))
}

// withTruncateFeed returns the options of a write with the trigger.
func withTruncateFeed() *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{PostTriggers: []string{schema.TruncateFeed.ID}}
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
	return &schema.MissingError{Database: v.db.Name(), Scripts: []string{schema.TruncateFeed.ID}}
}
