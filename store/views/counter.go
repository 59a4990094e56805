package views

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// addedCopies returns by how many the live copies of a view increase when the post's copy is
// written: -1, 0 or 1.
func addedCopies(post *blog.Post, current CopyState) (added int64) {
	if !post.Deleted {
		added++
	}
	if current.exists() && !current.Deleted {
		added--
	}
	return added
}

// writeCounted is writeCopy in one transaction with a change of the item that counts the copies. It
// returns that item. Error: errNoCounter if it does not exist; then nothing is written.
func writeCounted(
	ctx context.Context, c *azcosmos.ContainerClient, partition, id string, item any, current CopyState,
	counterID string, change azcosmos.PatchOperations,
) (counter []byte, err error) {
	text, err := cosmos.EncodeItem(item)
	if err != nil {
		return nil, cosmos.ToBlogError(err)
	}
	batch := c.NewTransactionalBatch(azcosmos.NewPartitionKeyString(partition))
	batch.PatchItem(counterID, change, nil)
	if current.exists() {
		batch.ReplaceItem(id, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &current.ETag})
	} else {
		batch.CreateItem(text, nil)
	}
	response, err := c.ExecuteTransactionalBatch(ctx, batch, &azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true})
	switch {
	case err != nil:
		return nil, cosmos.ToBlogError(err)
	case response.Success:
		return response.OperationResults[0].ResourceBody, nil
	case len(response.OperationResults) > 0 && response.OperationResults[0].StatusCode == http.StatusNotFound:
		return nil, errNoCounter
	}
	return nil, cosmos.BatchError(response)
}

// errNoCounter is the error of a write whose counter does not exist.
var errNoCounter = blog.Errorf(blog.NotFound, "There is no item that counts the copies.")

// addToCounter returns the change of a list's counter.
func addToCounter(added int64) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/postCount", added)
	changes.AppendIncrement("/revision", 1)
	return changes
}

// createCounter creates the counter of an empty list, unless another call has done so.
func (e listEntries) createCounter(ctx context.Context) error {
	_, err := cosmos.Create(ctx, e.lists, string(e.list), schema.NewCounterItem(e.list))
	if cosmos.IsConflict(err) {
		return nil
	}
	return err
}

func (e listEntries) readCounter(ctx context.Context) (schema.CounterItem, error) {
	counter, _, err := cosmos.Read[schema.CounterItem](ctx, e.lists, string(e.list), schema.CounterID)
	if err != nil {
		return schema.CounterItem{}, err
	}
	return *counter, nil
}
