package cosmos

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Address is where an item is in its container.
type Address struct{ Partition, ID string }

// OwnAddresses returns the addresses of items whose id is their partition key, each once, in the
// order of ids.
func OwnAddresses(ids []string) []Address {
	seen := make(map[string]bool, len(ids))
	list := make([]Address, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			list = append(list, Address{id, id})
		}
	}
	return list
}

// ReadEach reads items in the cheapest way. A single item is a point read (1 RU); several are
// one read many, which is a query (at least 2.3 RU). Items that do not exist are absent from the
// result, which has no order.
func ReadEach[T any](ctx context.Context, c *azcosmos.ContainerClient, items []Address) ([]T, error) {
	switch len(items) {
	case 0:
		return nil, nil
	case 1:
		item, _, err := Read[T](ctx, c, items[0].Partition, items[0].ID)
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

// readMany reads items of any partitions with as few queries as azcosmos can.
func readMany[T any](ctx context.Context, c *azcosmos.ContainerClient, items []Address) ([]T, error) {
	identities := make([]azcosmos.ItemIdentity, len(items))
	for i, at := range items {
		identities[i] = azcosmos.ItemIdentity{ID: at.ID, PartitionKey: azcosmos.NewPartitionKeyString(at.Partition)}
	}
	ctx, received := withAnswers(ctx)
	response, err := c.ReadManyItems(ctx, identities, nil)
	if err == nil {
		err = ctx.Err() // azcosmos silently omits items that it had no time to read
	}
	if err != nil {
		return nil, ToBlogError(err)
	}
	return decodeAnswers(received, make([]T, 0, len(items)), response.Items)
}
