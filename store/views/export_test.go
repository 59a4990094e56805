package views

import (
	"context"
	"time"

	"cosmosblog/blog"
)

// The package's tests use these.

const (
	RefillBelow = refillBelow
)

var (
	ErrBackfilled = errBackfilled
)

func (v *Views) RefillFeedOnce(ctx context.Context) error { return v.refillFeed(ctx) }

func (v *Views) WriteFeedCopy(ctx context.Context, post *blog.Post, current CopyState) error {
	return feedPosts{v}.write(ctx, post, current)
}

// TakeTurnsForever makes groups of the feed wait for their turn, however long others take.
func (v *Views) TakeTurnsForever() { v.feedGroup = newTurn(time.Hour) }
