package views

import (
	"context"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store/schema"
)

// The package's tests use these.

const (
	LeastPace   = leastPace
	RefillBelow = refillBelow
)

var (
	ErrBackfilled    = errBackfilled
	WithTruncateFeed = withTruncateFeed
)

type UpdateUsernamesArgument = updateUsernamesArgument

// NewTestThrottler returns a throttler with nothing behind it.
func NewTestThrottler(most int, now func() time.Time, sleep func(context.Context, time.Duration) error, throttles func() (int64, time.Duration)) *Throttler {
	p := newThrottler(most)
	p.now, p.sleep, p.throttles = now, sleep, throttles
	return p
}

func (p *Throttler) Do(ctx context.Context, step func() error) error { return p.do(ctx, step) }

func (p *Throttler) Limit() float64 { return p.limit }

func (p *Throttler) Running() int { return p.running }

func (s *Views) RefillFeedOnce(ctx context.Context) error { return s.refillFeed(ctx) }

func (s *Views) ExpirePost(ctx context.Context, postID string) error {
	return s.expirePost(ctx, postID)
}

func (s *Views) WriteFeedCopy(ctx context.Context, post *blog.Post, current CopyState) error {
	return s.writeFeedCopy(ctx, post, current)
}

func (s *Views) UpdateUsernames(ctx context.Context, postID string, argument UpdateUsernamesArgument) (int, bool, error) {
	return s.updateUsernames(ctx, postID, argument)
}

// EachSwept calls f for each partition that a sweep has yet to change.
func (s *Views) EachSwept(ctx context.Context, sweep Sweep, f func()) (more bool, err error) {
	return eachAtPace(ctx, s, s.NewThrottler(1), sweptPostsQuery, sweep.parameters(),
		func(context.Context, schema.PostID) error { f(); return nil })
}
