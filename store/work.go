package store

import (
	"context"
	"slices"

	"cosmosblog/blog"
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
// projector is charged later may differ. TestBackgroundPrices in proof/costs compares them
// with what it is charged, and docs/costs.md has both. They are too low for users who were never
// renamed, because nothing counts a user's comments and likes.
const (
	priceOfNewPost     = 60.0 // copies in users and feed, the entry of the month, both counters
	priceOfEdit        = 30.0 // copies in users and feed, and the entry of the month
	priceOfTag         = 30.0 // an entry of a tag, created or deleted, and the tag's counter
	priceOfTagEntry    = 7.0  // an entry of a tag that changes
	priceOfResponse    = 12.0 // a like or a comment that changes the copies in users and feed
	priceOfGoneComment = 8.0  // in addition: the text of a deleted comment is removed
	priceOfGonePost    = 70.0 // tombstones of the copies and the month's entry, counters, ttl
	priceOfPurgedItem  = 8.0  // a comment or like of a deleted post
	priceOfRename      = 30.0 // the sweep of a user without items, and its records
	priceOfRenamedPost = 45.0 // copies in users and feed, the entries of the month and two tags
	priceOfSweptPost   = 30.0 // of a user who was never swept; their comments and likes are not known
	priceOfGoneUser    = 60.0 // without posts, comments and likes
)

// causeProjection counts the projection of a post at a price, with tags that it gets or loses.
func causeProjection(ctx context.Context, price float64, tags int) {
	cosmos.Cause(ctx, workProjection, price+priceOfTag*float64(tags))
}

// mostPaidPurge is the number of comments and likes whose purge the author of a post pays. Others
// have paid for writing them, which costs three times as much.
const mostPaidPurge = 2000

// causePurge counts the work after a post was deleted.
func causePurge(ctx context.Context, post *schema.PostItem) {
	causeProjection(ctx, priceOfGonePost, len(post.Tags))
	cosmos.Cause(ctx, workPurge, priceOfPurgedItem*float64(min(post.CommentCount+post.LikeCount, mostPaidPurge)))
}

// lastSweep is what a price needs of the item of a user's sweep.
type lastSweep struct {
	Type           string  `json:"type"`
	AuthorRevision int64   `json:"authorRevision"` // of the user when the sweep was recorded
	Last           bool    `json:"last"`           // the first pass is done, or not needed
	Charge         float64 `json:"charge"`         // RU; 0 if unknown
}

// isJoinedBy reports whether a rename joins a sweep that has not begun, or has not ended its first
// pass. former is the user's revision before the rename: if it is later than that of the sweep, an
// earlier rename is not recorded yet.
func (s lastSweep) isJoinedBy(former int64) bool {
	return s.AuthorRevision < former || s.Type == schema.TypeSweep && !s.Last
}

// causeSweep counts the sweep of a renamed user at the charge of the user's last one. A rename that
// joins a pending sweep pays a part of that, because the sweep may have begun. The projection of
// the user's posts follows.
func (s *Store) causeSweep(ctx context.Context, userID string, posts int, former int64) {
	const partOfPending = 0.25
	price := priceOfSweptPost * float64(posts)
	id := schema.SweepID(userID)
	last, _, err := cosmos.Read[lastSweep](ctx, s.leases, id, id)
	if err == nil && last.Charge > 0 {
		price = last.Charge
	}
	price += priceOfRenamedPost * float64(posts)
	if err == nil && last.isJoinedBy(former) {
		price *= partOfPending
	}
	cosmos.Cause(ctx, workSweep, priceOfRename+price)
}

// causeDeletion counts the deletion of a user. Comments and likes cost a little more than three
// times as much to delete as to sweep.
func (s *Store) causeDeletion(ctx context.Context, user *schema.UserItem) {
	const deletionBySweep = 3.2
	price := priceOfGoneUser + priceOfGonePost*float64(user.PostCount)
	id := schema.SweepID(user.ID)
	if last, _, err := cosmos.Read[lastSweep](ctx, s.leases, id, id); err == nil {
		price += deletionBySweep * last.Charge
	}
	cosmos.Cause(ctx, workDeletion, price)
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
