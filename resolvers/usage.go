package resolvers

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"cosmosblog/blog"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/request"
	"cosmosblog/store/cosmos"
)

const (
	// maxErrors is the maximum number of errors that one operation presents. A response shows ten.
	maxErrors = 100

	// maxPendingElements limits the elements that an operation reads from the database at one time.
	// This bounds the memory for elements of unknown size: two pages of 100 posts with 256 KiB each
	// take 50 MiB.
	maxPendingElements = 200
)

// usage counts the reads and errors of one operation, and enforces the limits. It may be used
// concurrently.
type usage struct {
	limits  limits.Limits
	memory  request.Memory  // nil if it is not counted
	client  context.Context // ends when the client disconnects; nil if that is not known
	payment *budget.Payment // nil if nobody pays
	writes  bool            // the operation is a mutation
	meter   cosmos.Meter    // of the operation's requests to the database
	content atomic.Int64    // bytes read
	errors  atomic.Int64    // presented
	pending *semaphore.Weighted

	// All fields that fail because the operation was cancelled or timed out share one error id.
	cancelled   sync.Once
	cancelledID string
}

// newUsage returns the usage of a context's operation.
func newUsage(ctx context.Context, l limits.Limits) *usage {
	q := request.Of(ctx)
	return &usage{
		limits: l, memory: q.Memory, client: q.Client, payment: q.Payment,
		writes: isMutation(ctx), pending: semaphore.NewWeighted(maxPendingElements),
	}
}

// ended returns an error if the operation should not go on, because its time is over or its client
// has disconnected. ctx derives from that of the operation.
func (u *usage) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil || u.client == nil {
		return err
	}
	return u.client.Err()
}

// read runs a read of n elements and counts the bytes of content that it returns. It waits while
// too many elements are pending, so a read must not start another one. Errors: those of read and
// of ctx, and those of addContent and checkCharge.
func (u *usage) read(ctx context.Context, n int, read func() (bytes int, err error)) error {
	weight := int64(min(n, maxPendingElements))
	if err := u.pending.Acquire(ctx, weight); err != nil {
		return err
	}
	defer u.pending.Release(weight)
	if err := u.ended(ctx); err != nil {
		return err
	}
	if err := u.addContent(0); err != nil {
		return err
	}
	if err := u.checkCharge(); err != nil {
		return err
	}
	bytes, err := read()
	if err != nil {
		return err
	}
	return u.addContent(bytes)
}

// bytesPerRU is the number of bytes of long contents that a read many returns for one RU, about.
const bytesPerRU = 5 << 10

// batchBytes returns the number of bytes of long contents that one request may read. Its charge is
// then at most the limit of the price.
func (u *usage) batchBytes() int {
	if u.limits.Cost == 0 {
		return math.MaxInt
	}
	return u.limits.Cost * bytesPerRU
}

// longestCommentRU is what a query is charged for a comment of the greatest length, at most.
const longestCommentRU = 7.2

// commentsOfRequest returns the number of comments that one request may read, besides the one after
// them that shows whether there are more. Its charge is then at most the limit of the price.
func (u *usage) commentsOfRequest() int {
	if u.limits.Cost == 0 {
		return blog.MaxPageSize
	}
	return max(1, int(float64(u.limits.Cost)/longestCommentRU)-1)
}

// chargeFactor is the number of times the limit of the price that an operation may be charged.
// Prices assume usual sizes of items.
const chargeFactor = 2

// checkCharge returns BUDGET_EXCEEDED if the client's budget does not permit more, and
// COST_LIMIT_EXCEEDED if the operation was charged chargeFactor times the limit
// of the price. What kept results cost once counts, because answers take memory and processor time
// wherever they come from. Requests in flight may exceed the limit.
func (u *usage) checkCharge() error {
	limit := chargeFactor * float64(u.limits.Cost)
	charged := u.meter.Spent()
	if charged > u.payment.Price() || u.writes {
		if err := u.payment.Check(u.spending()); err != nil {
			return err
		}
	}
	if limit == 0 || charged <= limit {
		return nil
	}
	sentence := "This field was not read, because the operation was charged %.0f RU already, and the server allows %.0f. Request less at a time."
	if u.writes {
		sentence = "This was not executed, because the operation was charged %.0f RU already, and the server allows %.0f. Fields without an error have succeeded."
	}
	return blog.Errorf(blog.CostLimitExceeded, sentence, charged, limit)
}

// spending returns what the operation has spent so far.
func (u *usage) spending() budget.Spending {
	return budget.Spending{Spent: u.meter.Spent(), Caused: u.meter.Caused(), Unknown: u.meter.Unanswered() > 0}
}

// addContent counts bytes of content. Once their sum has exceeded the limit, every call returns
// LIMIT_EXCEEDED. If the server has no memory for the bytes, it returns OVERLOADED, or after a
// mutation LIMIT_EXCEEDED, because OVERLOADED promises that nothing was executed.
func (u *usage) addContent(bytes int) error {
	if u.content.Add(int64(bytes)) > int64(u.limits.ContentBytes) {
		return blog.Errorf(blog.LimitExceeded,
			"This operation reads more than %d bytes of posts and comments. Request less at a time, for example with a smaller `first`.",
			u.limits.ContentBytes)
	}
	if bytes > 0 && u.memory != nil && !u.memory.Take(bytes) {
		if u.writes {
			return blog.Errorf(blog.LimitExceeded, "The server is busy with large responses. Select fewer fields.")
		}
		return &blog.Error{Code: blog.Overloaded, Message: "The server is busy with large responses. Retry, or request less at a time.",
			RetryAfter: time.Second}
	}
	return nil
}

// contentBytes returns the size of an element's content, or 0 if its type has none.
func contentBytes(element any) int {
	switch e := element.(type) {
	case *blog.Post:
		return len(e.Content)
	case *blog.Comment:
		return len(e.Content)
	}
	return 0
}
