package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"
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
// wants to be called again.
//
// Errors: those of rows that do not let their work be done (ConcernsItem), when all others are done; any other, at once.
func eachAtPace[T comparable](ctx context.Context, s *Store, pace *Pace, text string, parameters []azcosmos.QueryParameter, work func(context.Context, T) error) (more bool, err error) {
	begun := pace.now()
	pager := s.posts.NewQueryItemsPager(text, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{
		QueryParameters: parameters,
		PageSizeHint:    pacedPage,
	})
	var refused refusedRows
	enough := func() bool { return refused.none() && pace.now().Sub(begun) >= pacedSlice }
	for pager.More() {
		if enough() {
			return true, nil
		}
		var rows []T
		err := pace.do(ctx, func() error {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return asBlogError(err)
			}
			rows, err = decodeItems[T](nil, page.Items)
			return err
		})
		if err == nil {
			more, err = pageAtPace(ctx, pace, rows, enough, func(ctx context.Context, row T) error {
				return refused.take(ctx, work(ctx, row))
			})
		}
		if more || err != nil {
			return more, err
		}
	}
	return false, errors.Join(refused.kept...)
}

// pageAtPace works on the rows of a page until it is enough.
func pageAtPace[T comparable](ctx context.Context, pace *Pace, rows []T, enough func() bool, work func(context.Context, T) error) (more bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(int(pace.most))
	seen := make(map[T]bool, len(rows))
	for _, row := range rows {
		if seen[row] {
			continue
		}
		if more = enough(); more {
			break
		}
		seen[row] = true
		group.Go(func() error {
			return pace.do(ctx, func() error { return work(ctx, row) })
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
	if !ConcernsItem(err) || ctx.Err() != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) < 3 {
		r.kept = append(r.kept, err)
	}
	return nil
}
