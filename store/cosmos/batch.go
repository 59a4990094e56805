package cosmos

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// MaxBatchOperations is the maximum number of operations in one transactional batch (Azure
// Cosmos DB service quotas).
const MaxBatchOperations = 100

// MaxBatchBytes limits the size of the items in one of our transactional batches. The service
// accepts requests of 2 MB, including everything around the items.
const MaxBatchBytes = 1 << 20

// ExecuteBatch executes a transactional batch: either all of its operations are committed or
// none. Errors: CONFLICT if the items of an operation have changed or do not exist; THROTTLED;
// INTERNAL if the service rejects an operation.
func ExecuteBatch(ctx context.Context, c *azcosmos.ContainerClient, batch azcosmos.TransactionalBatch) error {
	response, err := c.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil || response.Success {
		return ToBlogError(err)
	}
	return BatchError(response)
}

// BatchError returns the error of the operation that made a batch fail, or nil if none of its
// operations failed.
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
	return nil
}

var errItemsChanged = blog.Errorf(blog.Conflict, "Another request changed the items at the same time. Try again.")
