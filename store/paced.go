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
	var refused firstErrors
	for pager.More() {
		if len(refused.kept) == 0 && pace.now().Sub(begun) >= pacedSlice {
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
			err = pageAtPace(ctx, pace, rows, &refused, work)
		}
		if err != nil {
			return false, err
		}
	}
	return false, errors.Join(refused.kept...)
}

func pageAtPace[T comparable](ctx context.Context, pace *Pace, rows []T, refused *firstErrors, work func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(int(pace.most))
	seen := make(map[T]bool, len(rows))
	for _, row := range rows {
		if seen[row] {
			continue
		}
		seen[row] = true
		group.Go(func() error {
			err := pace.do(ctx, func() error { return work(ctx, row) })
			if ConcernsItem(err) && ctx.Err() == nil {
				refused.add(err)
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// firstErrors keeps the first few of any number of errors. It may be used concurrently.
type firstErrors struct {
	mu   sync.Mutex
	kept []error
}

func (e *firstErrors) add(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.kept) < 3 {
		e.kept = append(e.kept, err)
	}
}
