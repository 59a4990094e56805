package store

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// The functions of this file are Cosmos DB's verbs on typed items. Their errors are blog's: NOT_FOUND where the item is
// not there, CONFLICT where create found one or the etag is another.

// read reads one item and its etag: a point read.
func read[T any](ctx context.Context, c *azcosmos.ContainerClient, partition, id string) (*T, azcore.ETag, error) {
	response, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err != nil {
		return nil, "", asBlogError(err)
	}
	item := new(T)
	if err := json.Unmarshal(response.Value, item); err != nil {
		return nil, "", asBlogError(err)
	}
	return item, response.ETag, nil
}

func create(ctx context.Context, c *azcosmos.ContainerClient, partition string, item any) (azcore.ETag, error) {
	text, err := itemJSON(item)
	if err != nil {
		return "", asBlogError(err)
	}
	response, err := c.CreateItem(ctx, azcosmos.NewPartitionKeyString(partition), text, nil)
	return response.ETag, asBlogError(err)
}

// replace writes the whole item where its etag is still the given one.
func replace(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, item any, etag azcore.ETag) (azcore.ETag, error) {
	text, err := itemJSON(item)
	if err != nil {
		return "", asBlogError(err)
	}
	response, err := c.ReplaceItem(ctx, azcosmos.NewPartitionKeyString(partition), id, text, ifMatch(etag))
	return response.ETag, asBlogError(err)
}

// patch changes some properties of an item where its etag is still the given one; properties that this version of the
// program does not know stay as they are.
func patch(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, changes azcosmos.PatchOperations, etag azcore.ETag) (azcore.ETag, error) {
	response, err := c.PatchItem(ctx, azcosmos.NewPartitionKeyString(partition), id, changes, ifMatch(etag))
	return response.ETag, asBlogError(err)
}

// remove deletes an item where its etag is still the given one.
func remove(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, etag azcore.ETag) error {
	_, err := c.DeleteItem(ctx, azcosmos.NewPartitionKeyString(partition), id, ifMatch(etag))
	return asBlogError(err)
}

func ifMatch(etag azcore.ETag) *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{IfMatchEtag: &etag}
}

// readMany reads items of any partitions in as few queries as azcosmos can; those that are not there are absent, and
// the order is none.
func readMany[T any](ctx context.Context, c *azcosmos.ContainerClient, items []azcosmos.ItemIdentity) ([]T, error) {
	response, err := c.ReadManyItems(ctx, items, nil)
	if err == nil {
		err = ctx.Err() // azcosmos leaves out silently what it did not come to read
	}
	if err != nil {
		return nil, asBlogError(err)
	}
	return decodeItems[T](nil, response.Items)
}

// query gives all results of a query in one partition, page after page: a page may be short, or empty, and not the
// last. limit is how many the query gives at most.
func query[T any](ctx context.Context, c *azcosmos.ContainerClient, partition, text string, limit int, parameters ...azcosmos.QueryParameter) ([]T, error) {
	pager := c.NewQueryItemsPager(text, azcosmos.NewPartitionKeyString(partition), &azcosmos.QueryOptions{
		PageSizeHint:    int32(limit),
		QueryParameters: parameters,
	})
	results := make([]T, 0, limit)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, asBlogError(err)
		}
		if results, err = decodeItems(results, page.Items); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// decodeItems appends what the texts say to items.
func decodeItems[T any](items []T, texts [][]byte) ([]T, error) {
	for _, text := range texts {
		var item T
		if err := json.Unmarshal(text, &item); err != nil {
			return nil, asBlogError(err)
		}
		items = append(items, item)
	}
	return items, nil
}

// itemJSON writes an item as it is stored: what encoding/json would escape for HTML stays as it is.
func itemJSON(item any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(item); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// isNotFound and isConflict tell what an error of this file's functions says.
func isNotFound(err error) bool { return err != nil && blog.CodeOf(err) == blog.NotFound }
func isConflict(err error) bool { return err != nil && blog.CodeOf(err) == blog.Conflict }
