package cosmos

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

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
		item, _, err := read[T](ctx, c, items[0])
		if IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []T{*item}, nil
	}
	return readMany[T](ctx, c, items)
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
