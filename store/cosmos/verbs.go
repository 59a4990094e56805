package cosmos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// Pager gives the pages of a query.
type Pager interface {
	More() bool
	NextPage(context.Context) (azcosmos.QueryItemsResponse, error)
}

func Decode(text []byte, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return ToBlogError(fmt.Errorf("an item that cannot be read: %w", err))
	}
	return nil
}

// The functions of this file are Cosmos DB's verbs on typed items. Their errors are blog's: NOT_FOUND where the item is
// not there, CONFLICT where create found one or the etag is another.

// Read reads one item and its etag: a point read.
func Read[T any](ctx context.Context, c *azcosmos.ContainerClient, partition, id string) (*T, azcore.ETag, error) {
	response, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err != nil {
		return nil, "", ToBlogError(err)
	}
	item := new(T)
	if err := json.Unmarshal(response.Value, item); err != nil {
		return nil, "", ToBlogError(err)
	}
	return item, response.ETag, nil
}

func Create(ctx context.Context, c *azcosmos.ContainerClient, partition string, item any) (azcore.ETag, error) {
	text, err := EncodeItem(item)
	if err != nil {
		return "", ToBlogError(err)
	}
	response, err := c.CreateItem(ctx, azcosmos.NewPartitionKeyString(partition), text, nil)
	return response.ETag, ToBlogError(err)
}

// Replace writes the whole item where its etag is still the given one.
func Replace(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, item any, etag azcore.ETag) (azcore.ETag, error) {
	text, err := EncodeItem(item)
	if err != nil {
		return "", ToBlogError(err)
	}
	response, err := c.ReplaceItem(ctx, azcosmos.NewPartitionKeyString(partition), id, text, ifMatch(etag))
	return response.ETag, ToBlogError(err)
}

// Patch changes some properties of an item where its etag is still the given one; properties that this version of the
// program does not know stay as they are.
func Patch(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, changes azcosmos.PatchOperations, etag azcore.ETag) (azcore.ETag, error) {
	response, err := c.PatchItem(ctx, azcosmos.NewPartitionKeyString(partition), id, changes, ifMatch(etag))
	return response.ETag, ToBlogError(err)
}

// Delete deletes an item where its etag is still the given one.
func Delete(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, etag azcore.ETag) error {
	_, err := c.DeleteItem(ctx, azcosmos.NewPartitionKeyString(partition), id, ifMatch(etag))
	return ToBlogError(err)
}

func ifMatch(etag azcore.ETag) *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{IfMatchEtag: &etag}
}

// ReadMany reads items of any partitions in as few queries as azcosmos can; those that are not there are absent, and
// the order is none.
func ReadMany[T any](ctx context.Context, c *azcosmos.ContainerClient, items []azcosmos.ItemIdentity) ([]T, error) {
	response, err := c.ReadManyItems(ctx, items, nil)
	if err == nil {
		err = ctx.Err() // azcosmos leaves out silently what it did not come to read
	}
	if err != nil {
		return nil, ToBlogError(err)
	}
	return DecodeItems[T](nil, response.Items)
}

// Query gives all results of a query in one partition, page after page: a page may be short, or empty, and not the
// last. limit is how many the query gives at most.
func Query[T any](ctx context.Context, c *azcosmos.ContainerClient, partition, text string, limit int, parameters ...azcosmos.QueryParameter) ([]T, error) {
	pager := c.NewQueryItemsPager(text, azcosmos.NewPartitionKeyString(partition), &azcosmos.QueryOptions{
		PageSizeHint:    int32(limit),
		QueryParameters: parameters,
	})
	results := make([]T, 0, limit)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, ToBlogError(err)
		}
		if results, err = DecodeItems(results, page.Items); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// DecodeItems appends what the texts say to items.
func DecodeItems[T any](items []T, texts [][]byte) ([]T, error) {
	for _, text := range texts {
		var item T
		if err := json.Unmarshal(text, &item); err != nil {
			return nil, ToBlogError(err)
		}
		items = append(items, item)
	}
	return items, nil
}

// EncodeItem writes an item as it is stored: what encoding/json would escape for HTML stays as it is.
func EncodeItem(item any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(item); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// IsNotFound and isConflict tell what an error of this file's functions says.
func IsNotFound(err error) bool { return err != nil && blog.CodeOf(err) == blog.NotFound }
func IsConflict(err error) bool { return err != nil && blog.CodeOf(err) == blog.Conflict }

// IdentitiesByID gives the identities of items that are alone in their partitions, each once.
func IdentitiesByID(ids []string) []azcosmos.ItemIdentity {
	return Identities(ids, func(id string) azcosmos.ItemIdentity {
		return azcosmos.ItemIdentity{ID: id, PartitionKey: azcosmos.NewPartitionKeyString(id)}
	})
}

// ReadEach reads items by their identities as cheaply as it goes: one by a point read (1 RU), several by one read many,
// which is a query (2.3 RU at least). Those that are not there are absent.
func ReadEach[T any](ctx context.Context, c *azcosmos.ContainerClient, items []azcosmos.ItemIdentity) ([]T, error) {
	switch len(items) {
	case 0:
		return nil, nil
	case 1:
		return readOne[T](ctx, c, items[0])
	}
	return ReadMany[T](ctx, c, items)
}

func readOne[T any](ctx context.Context, c *azcosmos.ContainerClient, identity azcosmos.ItemIdentity) ([]T, error) {
	response, err := c.ReadItem(ctx, identity.PartitionKey, identity.ID, nil)
	if err = ToBlogError(err); err != nil {
		if IsNotFound(err) {
			err = nil
		}
		return nil, err
	}
	items := make([]T, 1)
	return items, ToBlogError(json.Unmarshal(response.Value, &items[0]))
}

// Identities gives each id's identity once, in order.
func Identities(ids []string, identity func(id string) azcosmos.ItemIdentity) []azcosmos.ItemIdentity {
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
