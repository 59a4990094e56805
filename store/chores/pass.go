package chores

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// Pass is one pass over the items that a sweep, a deletion or a purge has to change: code that
// reads pages of items, and changes the items of each page in steps. Its progress decides when
// requests are sent. Errors: those of the steps that failed because of an item, after all others
// have ended; at once, any other error.
//
// A pass may be abandoned at any request, for example by a crash. Another pass for the same work
// finds the remaining items.
type Pass func(ctx context.Context, p *Progress) error

// Pace decides when the requests of a pass are sent, and which of them are sent again. Its methods
// may be called concurrently.
type Pace interface {
	// Retry calls attempt, and may call it again if it fails because of an item (cosmos.IsItemError).
	Retry(ctx context.Context, attempt func() error) error

	// Turn executes a request or a step when its turn comes.
	Turn(ctx context.Context, execute func(context.Context) error) error

	// Pause waits after an execution that changed nothing although there is more to do.
	Pause(ctx context.Context) error
}

// Progress is the progress of one call of a Pass.
type Progress struct {
	Pace
	Parallel int // steps of a page that are executed at a time; at least 1

	mu      sync.Mutex // guards the fields below during steps
	changed int
	refused []error
}

// maxRefusals limits the errors that are kept. More do not help to find the cause.
const maxRefusals = 3

// Changed returns the number of items that the steps have changed or found.
func (p *Progress) Changed() int { return p.changed }

// refusals returns the errors of steps that failed because of an item.
func (p *Progress) refusals() error { return errors.Join(p.refused...) }

// do executes one request of a pass that is not a step.
func (p *Progress) do(ctx context.Context, request func(context.Context) error) error {
	return p.Retry(ctx, func() error { return p.Turn(ctx, request) })
}

// each executes a step for each row of a query, page by page. It returns the refusals.
func each[Row comparable](ctx context.Context, p *Progress, query *rowQuery[Row], stepOf func(Row) step) error {
	for query.more() {
		page, err := query.next(ctx, p, pageSize)
		if err == nil {
			err = eachOf(ctx, p, page, stepOf)
		}
		if err != nil {
			return err
		}
	}
	return p.refusals()
}

// eachOf executes a step for each row of a page, and returns when all have ended.
func eachOf[Row any](ctx context.Context, p *Progress, page []Row, stepOf func(Row) step) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.Parallel)
	for _, row := range page {
		group.Go(func() error { return p.complete(ctx, stepOf(row)) })
	}
	return group.Wait()
}

// complete executes a step until it has no more to do. If the step fails because of an item, p
// keeps the error, and complete returns nil.
func (p *Progress) complete(ctx context.Context, s step) error {
	changed := 0
	err := p.Retry(ctx, func() error {
		n, err := s.run(ctx, p)
		changed += n
		return err
	})
	if err != nil && (ctx.Err() != nil || !cosmos.IsItemError(err)) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed += changed
	if err != nil && len(p.refused) < maxRefusals {
		p.refused = append(p.refused, err)
	}
	return nil
}

// step changes items of one partition. It sends a bounded number of requests, is idempotent, and
// may run concurrently with the other steps of its page. It returns the number of items that it
// changed or found. If more is true, it has more to do and must be executed again. Then changed may
// be 0, because the service had no time for an execution.
type step func(ctx context.Context) (changed int, more bool, err error)

// run executes a step until it has no more to do, and returns the number of items that it changed.
// Errors: ErrNoProgress after maxIdleExecutions in a row that changed nothing; the step's, and
// those of the pace.
func (s step) run(ctx context.Context, pace Pace) (changed int, err error) {
	for idle := 0; idle < maxIdleExecutions; {
		n, more := 0, false
		err := pace.Turn(ctx, func(ctx context.Context) (err error) {
			n, more, err = s(ctx)
			return err
		})
		changed += n
		switch {
		case err != nil || !more:
			return changed, err
		case n > 0:
			idle = 0
			continue
		}
		idle++
		if err := pace.Pause(ctx); err != nil {
			return changed, err
		}
	}
	return changed, ErrNoProgress
}

// maxIdleExecutions is the number of executions of a step in a row that may change nothing although
// there is more to do. If throughput is short, the service may end some of them at once.
const maxIdleExecutions = 10

// ErrNoProgress is the error of a step that changes nothing although there is more to do. It
// concerns an item (cosmos.IsItemError).
var ErrNoProgress = blog.Errorf(blog.Internal, "A stored procedure makes no progress within its time limit.")

// Run executes a pass, one request after the other, and returns the number of items that its steps
// changed. It neither waits nor retries.
func Run(ctx context.Context, pass Pass) (changed int, err error) {
	p := &Progress{Pace: atOnce{}, Parallel: 1}
	err = pass(ctx, p)
	return p.changed, err
}

// atOnce is the Pace of Run.
type atOnce struct{}

func (atOnce) Retry(_ context.Context, attempt func() error) error { return attempt() }

func (a atOnce) Turn(ctx context.Context, execute func(context.Context) error) error {
	if err := a.Pause(ctx); err != nil {
		return err
	}
	return execute(ctx)
}

func (atOnce) Pause(ctx context.Context) error { return ctx.Err() }

// pageSize is the largest number of rows in one page of a pass.
const pageSize = cosmos.MaxBatchOperations

// rowQuery reads the rows of a query page by page. It keeps only the continuation token, not a
// pager: a pager of azcore ends at its first error, as if there were no more pages.
type rowQuery[Row comparable] struct {
	container    *azcosmos.ContainerClient
	partition    azcosmos.PartitionKey
	text         string
	parameters   []azcosmos.QueryParameter
	continuation *string // of the next page; nil for the first
	pages        int     // read so far
}

// more reports whether there may be another page.
func (q *rowQuery[Row]) more() bool { return q.pages == 0 || q.continuation != nil }

// next returns the rows of the next page, at most size, each once. It repeats the request if it
// fails, also if the page cannot be decoded.
func (q *rowQuery[Row]) next(ctx context.Context, p *Progress, size int) (rows []Row, err error) {
	options := &azcosmos.QueryOptions{QueryParameters: q.parameters, PageSizeHint: int32(size), ContinuationToken: q.continuation}
	err = p.do(ctx, func(ctx context.Context) (err error) {
		rows, q.continuation, err = cosmos.NextPage[Row](ctx, q.container.NewQueryItemsPager(q.text, q.partition, options), nil)
		return err
	})
	q.pages++
	seen := make(map[Row]bool, len(rows))
	return slices.DeleteFunc(rows, func(row Row) bool {
		again := seen[row]
		seen[row] = true
		return again
	}), err
}
