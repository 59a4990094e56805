package cosmos

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

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
