package cosmos

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Query returns the results of a query in one partition. It reads all pages: a page may be short
// or empty without being the last. limit is the maximum number of results that the query itself
// sets (TOP); Query does not enforce it.
func Query[T any](ctx context.Context, c *azcosmos.ContainerClient, partition, text string, limit int, parameters ...azcosmos.QueryParameter) ([]T, error) {
	pager := c.NewQueryItemsPager(text, azcosmos.NewPartitionKeyString(partition), &azcosmos.QueryOptions{
		PageSizeHint:    int32(limit),
		QueryParameters: parameters,
	})
	return decodePages(ctx, pager, make([]T, 0, limit))
}

// QueryAcross returns the results of a query over all partitions of a container, in no order.
// For Go clients, the service executes only filters and projections across partitions: no ORDER
// BY, TOP, DISTINCT or aggregates.
func QueryAcross[T any](ctx context.Context, c *azcosmos.ContainerClient, text string, parameters ...azcosmos.QueryParameter) ([]T, error) {
	pager := c.NewQueryItemsPager(text, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{QueryParameters: parameters})
	return decodePages[T](ctx, pager, nil)
}

// decodePages appends the results of all pages to results.
func decodePages[T any](ctx context.Context, pager Pager, results []T) (_ []T, err error) {
	for pager.More() {
		if results, _, err = NextPage(ctx, pager, results); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Pages returns the pages of a query, each as a new slice, until one fails or the caller stops. The
// partition key of a query over all partitions is azcosmos.NewPartitionKey(). pageSize is the
// greatest number of results of a page; 0 is the service's default. Errors: those of NextPage.
func Pages[T any](ctx context.Context, c *azcosmos.ContainerClient, partition azcosmos.PartitionKey, text string, pageSize int,
	parameters ...azcosmos.QueryParameter,
) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		pager := c.NewQueryItemsPager(text, partition, &azcosmos.QueryOptions{PageSizeHint: int32(pageSize), QueryParameters: parameters})
		for pager.More() {
			page, _, err := NextPage[T](ctx, pager, nil)
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// NextPage appends the results of a query's next page to results. It also returns the continuation
// of the page after it, which is nil after the last one. Errors: those of ToBlogError and Decode.
func NextPage[T any](ctx context.Context, pager Pager, results []T) (_ []T, continuation *string, err error) {
	ctx, received := withAnswers(ctx)
	page, err := pager.NextPage(ctx)
	if err != nil {
		return nil, nil, ToBlogError(err)
	}
	results, err = decodeAnswers(received, results, page.Items)
	return results, page.ContinuationToken, err
}

// decodeAnswers appends the items of the pages that azcosmos returned.
func decodeAnswers[T any](received *answers, items []T, pages [][]byte) ([]T, error) {
	for _, page := range pages {
		body, err := received.take(page)
		if err != nil {
			return nil, err
		}
		if items, err = decodePage(items, body); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// Pager returns the pages of a query.
type Pager interface {
	More() bool
	NextPage(context.Context) (azcosmos.QueryItemsResponse, error)
}
