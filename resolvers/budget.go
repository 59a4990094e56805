package resolvers

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

const (
	maxErrors = 100 // that are presented; an answer shows ten

	// elementsAtOnce is how many elements may be under way from the database. It bounds what is in memory before its size
	// is known: two pages of 100 posts, each of 256 KiB, are 50 MiB.
	elementsAtOnce = 200
)

// budget is what one operation may still do while it runs. It may be used concurrently.
type budget struct {
	limits   limits.Limits
	content  atomic.Int64 // bytes read so far
	errors   atomic.Int64 // presented so far
	underWay *semaphore.Weighted

	ended   sync.Once // the operation's time was over, or its client gone
	endedID string    // the error id of all fields that came too late
}

func newBudget(l limits.Limits) *budget {
	return &budget{limits: l, underWay: semaphore.NewWeighted(elementsAtOnce)}
}

// read runs a read of n elements when there is room for it, and counts the bytes of content that it says it gave. A read
// within a read could wait for ever. Errors: those of read and of ctx, and COST_LIMIT_EXCEEDED.
func (b *budget) read(ctx context.Context, n int, read func() (bytes int, err error)) error {
	weight := int64(min(n, elementsAtOnce))
	if err := b.underWay.Acquire(ctx, weight); err != nil {
		return err
	}
	defer b.underWay.Release(weight)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := b.addContent(0); err != nil {
		return err
	}
	bytes, err := read()
	if err != nil {
		return err
	}
	return b.addContent(bytes)
}

// addContent counts bytes of content. Error: COST_LIMIT_EXCEEDED where they are too many, and whenever they were.
func (b *budget) addContent(bytes int) error {
	if b.content.Add(int64(bytes)) > int64(b.limits.ContentBytes) {
		return blog.Errorf(blog.CostLimitExceeded, "The operation reads more than %d bytes of posts and comments: ask for less at a time.",
			b.limits.ContentBytes)
	}
	return nil
}

// contentBytes gives the size of what is long in an element of a list.
func contentBytes(element any) int {
	switch e := element.(type) {
	case *blog.Post:
		return len(e.Content)
	case *blog.Comment:
		return len(e.Content)
	}
	return 0
}
