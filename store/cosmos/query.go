package cosmos

import (
	"context"
	"encoding/json"
	"fmt"
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

// ItemPage is a page of all items of a container, as they are stored.
type ItemPage struct {
	Items        [][]byte
	ResourceID   string // of the container
	Continuation string // of the page after it; empty after the last one
}

// ReadItems reads a page of all items of a container, in no order: one request of a query over all
// partitions. continuation is that of the page before; empty for the first page. The page has up to
// limit items, and may have none without being the last. An item that is written between two pages
// is on one of them, or on both, in the state of that page. Errors: those of ToBlogError.
func ReadItems(ctx context.Context, c *azcosmos.ContainerClient, continuation string, limit int) (ItemPage, error) {
	options := &azcosmos.QueryOptions{PageSizeHint: int32(limit)}
	if continuation != "" {
		options.ContinuationToken = &continuation
	}
	ctx, received := withAnswers(ctx)
	answer, err := c.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), options).NextPage(ctx)
	if err != nil {
		return ItemPage{}, ToBlogError(err)
	}
	var page ItemPage
	if answer.ContinuationToken != nil {
		page.Continuation = *answer.ContinuationToken
	}
	for _, number := range answer.Items {
		body, err := received.take(number)
		if err != nil {
			return ItemPage{}, err
		}
		if err := page.add(body); err != nil {
			return ItemPage{}, err
		}
	}
	return page, nil
}

// add adds the items of an answer. As in decodePage, its error is not permanent.
func (p *ItemPage) add(body []byte) error {
	var envelope struct {
		ResourceID string            `json:"_rid"`
		Documents  []json.RawMessage `json:"Documents"`
	}
	if err := unmarshal(body, &envelope); err != nil {
		return ToBlogError(fmt.Errorf("decoding a page: %s", err))
	}
	p.ResourceID = envelope.ResourceID
	for _, item := range envelope.Documents {
		p.Items = append(p.Items, item)
	}
	return nil
}

// readMany reads items of any partitions with as few queries as azcosmos can, in no order. Items
// that do not exist are absent from the result.
func readMany[T any](ctx context.Context, c *azcosmos.ContainerClient, items []azcosmos.ItemIdentity) ([]T, error) {
	ctx, received := withAnswers(ctx)
	response, err := c.ReadManyItems(ctx, items, nil)
	if err == nil {
		err = ctx.Err() // azcosmos silently omits items that it had no time to read
	}
	if err != nil {
		return nil, ToBlogError(err)
	}
	return decodeAnswers(received, make([]T, 0, len(items)), response.Items)
}

// ReadEach reads items in the cheapest way. A single item is a point read (1 RU); several are
// one read many, which is a query (at least 2.3 RU). Items that do not exist are absent from the
// result.
func ReadEach[T any](ctx context.Context, c *azcosmos.ContainerClient, items []azcosmos.ItemIdentity) ([]T, error) {
	switch len(items) {
	case 0:
		return nil, nil
	case 1:
		return readOne[T](ctx, c, items[0])
	}
	return readMany[T](ctx, c, items)
}

func readOne[T any](ctx context.Context, c *azcosmos.ContainerClient, identity azcosmos.ItemIdentity) ([]T, error) {
	items := make([]T, 1)
	_, err := readInto(ctx, c, identity.PartitionKey, identity.ID, &items[0])
	switch {
	case IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return items, nil
}

// IdentitiesByID returns the identities of items whose id is their partition key, each once, in the
// order of ids.
func IdentitiesByID(ids []string) []azcosmos.ItemIdentity {
	seen := make(map[string]bool, len(ids))
	list := make([]azcosmos.ItemIdentity, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			list = append(list, azcosmos.ItemIdentity{ID: id, PartitionKey: azcosmos.NewPartitionKeyString(id)})
		}
	}
	return list
}

// Pager returns the pages of a query.
type Pager interface {
	More() bool
	NextPage(context.Context) (azcosmos.QueryItemsResponse, error)
}
