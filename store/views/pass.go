package views

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// Pass is one pass over the items that a sweep, a deletion or a purge has to change. The caller
// decides when a request is sent, how many steps run at a time, and what is retried. A pass must
// not be used concurrently, except for the steps of one page.
//
// The caller may abandon a pass at any time, for example by a crash. Another pass for the same work
// finds the remaining items.
type Pass interface {
	// Next returns the steps of the next page, between 0 and 100. It sends at most one request. All
	// steps of a page must have been executed before the next call of Next. If done is true, the
	// pass has ended. After an error, Next may be called again: it repeats the request.
	Next(ctx context.Context) (page []Step, done bool, err error)
}

// Step changes items of one partition. It sends a bounded number of requests, is idempotent, and
// may run concurrently with the other steps of its page. It returns the number of items that it
// changed or found. If more is true, it has more to do and must be executed again. Then changed may
// be 0, because the service had no time for an execution. After an error, the step may be executed
// again. cosmos.IsItemError reports whether the error concerns only the items of the step.
type Step func(ctx context.Context) (changed int, more bool, err error)

// Run executes a pass to its end, one step after the other, and returns the number of items that
// the steps changed. It neither waits nor retries. If a step fails because of an item
// (cosmos.IsItemError), Run executes the other steps and then returns the errors. Any other error
// ends Run at once.
func Run(ctx context.Context, p Pass) (changed int, err error) {
	var refusals Refusals
	for {
		page, done, err := p.Next(ctx)
		if done || err != nil {
			return changed, errors.Join(append(refusals, err)...)
		}
		for _, step := range page {
			n, err := step.Run(ctx, withoutPause)
			changed += n
			switch {
			case err == nil:
			case ctx.Err() != nil || !cosmos.IsItemError(err):
				return changed, err
			default:
				refusals.Add(err)
			}
		}
	}
}

// Refusals collects the errors of steps that failed because of an item, in no particular order.
type Refusals []error

// maxRefusals limits the errors that are kept. More do not help to find the cause.
const maxRefusals = 3

// Add keeps an error if there are not too many.
func (r *Refusals) Add(err error) {
	if len(*r) < maxRefusals {
		*r = append(*r, err)
	}
}

// Run executes a step until it has no more to do, and returns the number of items that it changed.
// It calls pause after each execution that changed nothing although there is more to do. Errors:
// ErrNoProgress after MaxIdleExecutions of these in a row; the step's, and that of pause.
func (s Step) Run(ctx context.Context, pause func(context.Context) error) (changed int, err error) {
	for idle := 0; idle < MaxIdleExecutions; {
		n, more, err := s(ctx)
		changed += n
		switch {
		case err != nil || !more:
			return changed, err
		case n > 0:
			idle = 0
			continue
		}
		idle++
		if err := pause(ctx); err != nil {
			return changed, err
		}
	}
	return changed, ErrNoProgress
}

func withoutPause(ctx context.Context) error { return ctx.Err() }

// MaxIdleExecutions is the number of executions of a step in a row that may change nothing although
// there is more to do. If throughput is short, the service may end some of them at once.
const MaxIdleExecutions = 10

// ErrNoProgress is the error of a step that changes nothing although there is more to do. It
// concerns an item (cosmos.IsItemError).
var ErrNoProgress = blog.Errorf(blog.Internal, "A stored procedure makes no progress within its time limit.")

// progress records the outcome of a pass's steps. A pass may run its query several times; each run
// is a round. progress may be used concurrently.
type progress struct {
	mu         sync.Mutex
	unfinished int // steps that have not succeeded, in all rounds
	changed    int // items, in this round
}

// track returns a step that records its outcome.
func (p *progress) track(step Step) Step {
	p.mu.Lock()
	p.unfinished++
	p.mu.Unlock()
	finished := false
	return func(ctx context.Context) (int, bool, error) {
		changed, more, err := step(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed += changed
		if err == nil && !more && !finished {
			finished = true
			p.unfinished--
		}
		return changed, more, err
	}
}

// endRound returns the number of items changed in the round, and whether all steps have succeeded
// so far.
func (p *progress) endRound() (changed int, succeeded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed, p.changed = p.changed, 0
	return changed, p.unfinished == 0
}

// pageSize is the largest number of rows in one page of a pass.
const pageSize = cosmos.MaxBatchOperations

// rowQuery reads the rows of a query page by page. It keeps only the continuation token, not a
// pager: a pager of azcore ends at its first error, as if there were no more pages.
type rowQuery[Row comparable] struct {
	open         func(size int, continuation *string) cosmos.Pager
	size         func() int // of the next page, in rows
	continuation *string    // of the next page; nil for the first
	pages        int        // read so far
}

func newRowQuery[Row comparable](
	c *azcosmos.ContainerClient, key azcosmos.PartitionKey, text string, parameters ...azcosmos.QueryParameter,
) *rowQuery[Row] {
	open := func(size int, continuation *string) cosmos.Pager {
		return c.NewQueryItemsPager(text, key, &azcosmos.QueryOptions{
			QueryParameters:   parameters,
			PageSizeHint:      int32(size),
			ContinuationToken: continuation,
		})
	}
	return &rowQuery[Row]{open: open, size: func() int { return pageSize }}
}

// more reports whether there may be another page.
func (q *rowQuery[Row]) more() bool { return q.pages == 0 || q.continuation != nil }

// next returns the rows of the next page, each once. After an error, also of a page that cannot be
// decoded, it reads the same page again.
func (q *rowQuery[Row]) next(ctx context.Context) ([]Row, error) {
	rows, continuation, err := cosmos.NextPage[Row](ctx, q.open(q.size(), q.continuation), nil)
	if err != nil {
		return nil, err
	}
	q.pages++
	q.continuation = continuation
	seen := make(map[Row]bool, len(rows))
	return slices.DeleteFunc(rows, func(row Row) bool {
		again := seen[row]
		seen[row] = true
		return again
	}), nil
}
