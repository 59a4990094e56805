package resolvers

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"cosmosblog/internal/blog"
)

// The limits of one operation. A query of a few words can ask for lists within lists within lists; what it asks for is
// counted before it is read, so that the same query is refused, or not, whatever the lists hold.
const (
	maxElements     = 10_000   // the sum of `first` over all lists that are read, and of the ids of `nodes`
	maxContentBytes = 32 << 20 // of posts and comments; the 100 longest posts, and some
	maxErrors       = 100      // that are presented; an answer shows ten

	// elementsAtOnce is how many elements may be under way from the database. It bounds what is in memory before its size
	// is known: two pages of 100 posts, each of 256 KiB, are 50 MiB.
	elementsAtOnce = 200
)

// budget is what one operation may still do. It may be used concurrently.
type budget struct {
	elements atomic.Int64 // asked for so far
	content  atomic.Int64 // bytes read so far
	errors   atomic.Int64 // presented so far
	underWay *semaphore.Weighted

	ended   sync.Once // the operation's time was over, or its client gone
	endedID string    // the error id of all fields that came too late
}

func newBudget() *budget { return &budget{underWay: semaphore.NewWeighted(elementsAtOnce)} }

// ask counts elements that a list will give. Error: COST_LIMIT_EXCEEDED, from then on for every list of the operation.
func (b *budget) ask(n int) error {
	if b.elements.Add(int64(n)) > maxElements {
		return errTooManyElements
	}
	return nil
}

var errTooManyElements = blog.Errorf(blog.CostLimitExceeded,
	"The operation asks for more than %d elements of lists: `first` counts again for every list within a list. Ask for less at a time.", maxElements)

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
	if b.content.Load() > maxContentBytes {
		return errTooMuchContent
	}
	bytes, err := read()
	if err == nil && b.content.Add(int64(bytes)) > maxContentBytes {
		err = errTooMuchContent
	}
	return err
}

var errTooMuchContent = blog.Errorf(blog.CostLimitExceeded,
	"The operation reads more than %d MiB of posts and comments: ask for less at a time.", maxContentBytes>>20)

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
