package views

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"

	"cosmosblog/store/cosmos"
)

const (
	// pacedPage is how many rows of a query are in memory, and worked on before the next are asked for.
	pacedPage = 100

	// pacedSlice is after how long work that can wait is laid down for a moment, so that other work of the kind comes in
	// turn: what one user wrote may take hours where throughput is short.
	pacedSlice = 5 * time.Second
)

// eachAtPace runs a query over all partitions of posts and has each row worked on at a pace, one that comes again in a page
// once. What is done must not be found by the query any more, or be done at once: where more is true it was laid down, and
// wants to be called again. It is not laid down before something was worked on, because the query begins anew then: one that takes
// long would never come to what it is to find.
//
// Errors: those of rows that do not let their work be done (IsItemError), when all others are done; any other, at once.
func eachAtPace[T comparable](ctx context.Context, s *Views, pace *Throttler, text string, parameters []azcosmos.QueryParameter, work func(context.Context, T) error) (more bool, err error) {
	turn := newTurn(pace)
	pager := s.posts.NewQueryItemsPager(text, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{
		QueryParameters: parameters,
		PageSizeHint:    pacedPage,
	})
	more, err = pagesAtPace(ctx, turn, pager, func(page []T) (bool, error) {
		return pageAtPace(ctx, turn, page, func(ctx context.Context, row T) error {
			return turn.refused.take(ctx, work(ctx, row))
		})
	})
	if more || err != nil {
		return more, err
	}
	return false, errors.Join(turn.refused.kept...)
}

// pagesAtPace has each page of a query worked on before the next is asked for, until the turn is over or the work says that it
// is.
func pagesAtPace[T any](ctx context.Context, turn *turn, pager cosmos.Pager, work func(page []T) (more bool, err error)) (more bool, err error) {
	for pager.More() {
		if turn.isOver() {
			return true, nil
		}
		var page []T
		err := turn.pace.do(ctx, func() error {
			response, err := pager.NextPage(ctx)
			if err != nil {
				return cosmos.ToBlogError(err)
			}
			page, err = cosmos.DecodeItems[T](nil, response.Items)
			return err
		})
		if err == nil {
			more, err = work(page)
		}
		if more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// turn is how long work at a pace goes on before others come.
type turn struct {
	pace    *Throttler
	begun   time.Time
	worked  bool // on a row
	refused refusedRows
}

func newTurn(pace *Throttler) *turn { return &turn{pace: pace, begun: pace.now()} }

// isOver tells whether the work is to be laid down.
func (t *turn) isOver() bool {
	return t.worked && t.refused.none() && t.pace.now().Sub(t.begun) >= pacedSlice
}

// pageAtPace works on the rows of a page until the turn is over.
func pageAtPace[T comparable](ctx context.Context, turn *turn, rows []T, work func(context.Context, T) error) (more bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(int(turn.pace.most))
	seen := make(map[T]bool, len(rows))
	for _, row := range rows {
		if seen[row] {
			continue
		}
		if more = turn.isOver(); more {
			break
		}
		seen[row], turn.worked = true, true
		group.Go(func() error {
			return turn.pace.do(ctx, func() error { return work(ctx, row) })
		})
	}
	err = group.Wait()
	return more && err == nil, err
}

// refusedRows keeps the first few errors of rows that do not let their work be done. It may be used concurrently.
type refusedRows struct {
	mu   sync.Mutex
	kept []error
}

func (r *refusedRows) none() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.kept) == 0
}

// take keeps an error of that kind, and gives any other back.
func (r *refusedRows) take(ctx context.Context, err error) error {
	if !cosmos.IsItemError(err) || ctx.Err() != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) < 3 {
		r.kept = append(r.kept, err)
	}
	return nil
}
