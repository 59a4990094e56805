package cosmos

import (
	"bytes"
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
)

// MaxBatchOperations is the maximum number of operations in one transactional batch (Azure
// Cosmos DB service quotas).
const MaxBatchOperations = 100

// MaxBatchBytes limits the size of the items in one of our transactional batches (BatchBytes). The
// service accepts requests of 2 MB, including everything around the items.
const MaxBatchBytes = 3 << 19

// BatchBytes returns the size of an item, as JSON, in the request of a batch. azcosmos encodes it
// once more with encoding/json, which escapes <, >, & and the line separators of Unicode.
func BatchBytes(item []byte) int {
	size := len(item) + 5*(bytes.Count(item, []byte{'<'})+bytes.Count(item, []byte{'>'})+bytes.Count(item, []byte{'&'}))
	return size + 3*(bytes.Count(item, []byte("\u2028"))+bytes.Count(item, []byte("\u2029")))
}

// ExecuteBatch executes a transactional batch: either all of its operations are committed or
// none. Errors: CONFLICT if the items of an operation have changed or do not exist; THROTTLED;
// INTERNAL if the service rejects an operation.
func ExecuteBatch(ctx context.Context, c *azcosmos.ContainerClient, batch azcosmos.TransactionalBatch) error {
	_, err := executeBatch(ctx, c, batch, nil)
	return err
}

// ExecuteBatchAndReturnLast is ExecuteBatch, and returns the item of the last operation. The
// service sends the items of all operations back.
func ExecuteBatchAndReturnLast(ctx context.Context, c *azcosmos.ContainerClient, batch azcosmos.TransactionalBatch) ([]byte, error) {
	results, err := executeBatch(ctx, c, batch, &azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true})
	if err != nil {
		return nil, err
	}
	return results[len(results)-1].ResourceBody, nil
}

func executeBatch(ctx context.Context, c *azcosmos.ContainerClient, batch azcosmos.TransactionalBatch, o *azcosmos.TransactionalBatchOptions) ([]azcosmos.TransactionalBatchResult, error) {
	response, err := c.ExecuteTransactionalBatch(ctx, batch, o)
	switch {
	case err != nil:
		return nil, ToBlogError(err)
	case !response.Success:
		return nil, BatchError(response)
	}
	return response.OperationResults, nil
}

// PatchedInBatch is PatchedIf in one transaction with the operations of a batch. The service sends
// the items of all operations back. Errors: CONFLICT if the condition does not hold, or the items
// of an operation do not exist; those of ExecuteBatch.
func PatchedInBatch[T any](
	ctx context.Context, c *azcosmos.ContainerClient, batch azcosmos.TransactionalBatch,
	id, condition string, changes azcosmos.PatchOperations,
) (*T, error) {
	changes.SetCondition("from c where " + condition)
	batch.PatchItem(id, changes, nil)
	results, err := executeBatch(ctx, c, batch, &azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true})
	if err != nil {
		return nil, err
	}
	item := new(T)
	return item, Decode(results[len(results)-1].ResourceBody, item)
}

// ReadTogether reads two items of a partition as of one moment: a batch of two reads. Errors:
// CONFLICT if one of the items does not exist; THROTTLED.
func ReadTogether[A, B any](ctx context.Context, c *azcosmos.ContainerClient, partition, idA, idB string) (*A, *B, error) {
	batch := c.NewTransactionalBatch(azcosmos.NewPartitionKeyString(partition))
	batch.ReadItem(idA, nil)
	batch.ReadItem(idB, nil)
	results, err := executeBatch(ctx, c, batch, nil)
	if err != nil {
		return nil, nil, err
	}
	a, b := new(A), new(B)
	if err := Decode(results[0].ResourceBody, a); err != nil {
		return nil, nil, err
	}
	return a, b, Decode(results[1].ResourceBody, b)
}

// BatchError returns the error of the operation that made a batch fail. It is CONFLICT if the
// answer does not say which operation failed: azcosmos's source says that the service sends no
// results if no content was asked for, and its tests say that it does.
func BatchError(response azcosmos.TransactionalBatchResponse) error {
	for _, result := range response.OperationResults {
		switch result.StatusCode {
		case http.StatusFailedDependency:
		case http.StatusConflict, http.StatusPreconditionFailed, http.StatusNotFound:
			return errItemsChanged
		case http.StatusTooManyRequests, StatusRetryWith:
			return &blog.Error{Code: blog.Throttled, Message: tooManyUpdates, RetryAfter: DefaultRetryAfter}
		default:
			return blog.Errorf(blog.Internal, "An operation of a transactional batch failed with status %d.", result.StatusCode)
		}
	}
	return errItemsChanged
}

var errItemsChanged = blog.Errorf(blog.Conflict, "Another request changed the items at the same time. Try again.")
