package store

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// readEach reads items by their identities as cheaply as it goes: one by a point read (1 RU), several by one read many,
// which is a query (2.3 RU at least). Those that are not there are absent.
func readEach[T any](ctx context.Context, c *azcosmos.ContainerClient, items []azcosmos.ItemIdentity) ([]T, error) {
	switch len(items) {
	case 0:
		return nil, nil
	case 1:
		return readOne[T](ctx, c, items[0])
	}
	return readMany[T](ctx, c, items)
}

func readOne[T any](ctx context.Context, c *azcosmos.ContainerClient, identity azcosmos.ItemIdentity) ([]T, error) {
	response, err := c.ReadItem(ctx, identity.PartitionKey, identity.ID, nil)
	if err = asBlogError(err); err != nil {
		if isNotFound(err) {
			err = nil
		}
		return nil, err
	}
	items := make([]T, 1)
	return items, asBlogError(json.Unmarshal(response.Value, &items[0]))
}

// identities gives each id's identity once, in order.
func identities(ids []string, identity func(id string) azcosmos.ItemIdentity) []azcosmos.ItemIdentity {
	seen := make(map[string]bool, len(ids))
	list := make([]azcosmos.ItemIdentity, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			list = append(list, identity(id))
		}
	}
	return list
}
