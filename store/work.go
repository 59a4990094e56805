package store

import (
	"context"
	"slices"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// The kinds of background work that commands cause (cosmos.Cause).
const (
	workProjection = "projection" // of a post to its copies and lists
	workSweep      = "sweep"      // of a renamed user's items
	workPurge      = "purge"      // of a deleted post's comments and likes
	workDeletion   = "deletion"   // of a deleted user's items
)

// The prices of background work in RU. A command knows them when it has succeeded; what the
// projector is charged later may differ. TestBackgroundPrices in internal/proof/costs compares them
// with what it is charged, and docs/costs.md has both.
const (
	priceOfNewPost     = 60.0 // copies in users and feed, the entry of the month, both counters
	priceOfEdit        = 30.0 // copies in users and feed, and the entry of the month
	priceOfTag         = 30.0 // an entry of a tag, created or deleted, and the tag's counter
	priceOfTagEntry    = 7.0  // an entry of a tag that changes
	priceOfResponse    = 12.0 // a like or a comment that changes the copies in users and feed
	priceOfGoneComment = 8.0  // in addition: the text of a deleted comment is removed
	priceOfGonePost    = 70.0 // tombstones of the copies and the month's entry, counters, ttl
	priceOfPurgedItem  = 8.0  // a comment or like of a deleted post
	priceOfUserChange  = 3.0  // the sweep of a user without items
	priceOfSweptItem   = 10.0
	priceOfGoneUser    = 60.0 // without posts, comments and likes
)

// causeProjection counts the projection of a post at a price, with tags that it gets or loses.
func causeProjection(ctx context.Context, price float64, tags int) {
	cosmos.Cause(ctx, workProjection, price+priceOfTag*float64(tags))
}

// causePurge counts the work after a post was deleted.
func causePurge(ctx context.Context, post *schema.PostItem) {
	causeProjection(ctx, priceOfGonePost, len(post.Tags))
	cosmos.Cause(ctx, workPurge, priceOfPurgedItem*float64(post.CommentCount+post.LikeCount))
}

// causeEdit counts the projection of an edit of a post with former tags.
func causeEdit(ctx context.Context, former []string, edited *blog.Post) {
	stay := 0
	for _, tag := range edited.Tags {
		if slices.Contains(former, tag) {
			stay++
		}
	}
	causeProjection(ctx, priceOfEdit+priceOfTagEntry*float64(stay), len(former)+len(edited.Tags)-2*stay)
}
