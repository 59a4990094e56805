package cosmos

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Read returns an item and its etag: one point read. Error: NOT_FOUND if there is no such item. The
// functions of this file also return the other errors of ToBlogError.
func Read[T any](ctx context.Context, c *azcosmos.ContainerClient, partition, id string) (*T, azcore.ETag, error) {
	ctx, received := withAnswers(ctx)
	response, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err != nil {
		return nil, "", ToBlogError(err)
	}
	body, err := received.take(response.Value)
	if err != nil {
		return nil, "", err
	}
	item := new(T)
	if err := Decode(body, item); err != nil {
		return nil, "", err
	}
	return item, response.ETag, nil
}

// Create creates an item and returns its etag. Error: CONFLICT if an item with its id exists in
// the partition.
func Create(ctx context.Context, c *azcosmos.ContainerClient, partition string, item any) (azcore.ETag, error) {
	text, err := EncodeItem(item)
	if err != nil {
		return "", ToBlogError(err)
	}
	response, err := c.CreateItem(ctx, azcosmos.NewPartitionKeyString(partition), text, nil)
	return response.ETag, ToBlogError(err)
}

// Replace writes the whole item if its etag is still the given one, and returns the new etag.
// Errors: CONFLICT if the item has another etag; NOT_FOUND.
func Replace(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, item any, etag azcore.ETag) (azcore.ETag, error) {
	text, err := EncodeItem(item)
	if err != nil {
		return "", ToBlogError(err)
	}
	response, err := c.ReplaceItem(ctx, azcosmos.NewPartitionKeyString(partition), id, text, ifMatch(etag))
	return response.ETag, ToBlogError(err)
}

// Patch changes properties of an item if its etag is still the given one, and returns the new
// etag. It keeps all other properties, even if this version of the program does not know them.
// Errors: CONFLICT if the item has another etag; NOT_FOUND.
func Patch(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, changes azcosmos.PatchOperations, etag azcore.ETag) (azcore.ETag, error) {
	response, err := c.PatchItem(ctx, azcosmos.NewPartitionKeyString(partition), id, changes, ifMatch(etag))
	return response.ETag, ToBlogError(err)
}

// PatchIf changes properties of an item if a condition holds, such as "c.revision = 3". It keeps
// all other properties. Errors: CONFLICT if the condition does not hold; NOT_FOUND.
func PatchIf(ctx context.Context, c *azcosmos.ContainerClient, partition, id, condition string, changes azcosmos.PatchOperations) error {
	_, err := patchIf(ctx, c, partition, id, condition, changes, nil)
	return err
}

// PatchedIf is PatchIf, and returns the whole item after the change.
func PatchedIf[T any](ctx context.Context, c *azcosmos.ContainerClient, partition, id, condition string, changes azcosmos.PatchOperations) (*T, error) {
	text, err := patchIf(ctx, c, partition, id, condition, changes, &azcosmos.ItemOptions{EnableContentResponseOnWrite: true})
	if err != nil {
		return nil, err
	}
	item := new(T)
	return item, Decode(text, item)
}

func patchIf(ctx context.Context, c *azcosmos.ContainerClient, partition, id, condition string, changes azcosmos.PatchOperations, o *azcosmos.ItemOptions) ([]byte, error) {
	changes.SetCondition("from c where " + condition)
	response, err := c.PatchItem(ctx, azcosmos.NewPartitionKeyString(partition), id, changes, o)
	return response.Value, ToBlogError(err)
}

// Delete deletes an item if its etag is still the given one. Errors: CONFLICT if the item has
// another etag; NOT_FOUND.
func Delete(ctx context.Context, c *azcosmos.ContainerClient, partition, id string, etag azcore.ETag) error {
	_, err := c.DeleteItem(ctx, azcosmos.NewPartitionKeyString(partition), id, ifMatch(etag))
	return ToBlogError(err)
}

func ifMatch(etag azcore.ETag) *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{IfMatchEtag: &etag}
}
