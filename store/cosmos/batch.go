package cosmos

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// MaxBatchOperations is the service's limit on the operations of one transactional batch.
const MaxBatchOperations = 100

// ExecuteBatch executes a transactional batch. Error: CONFLICT where one of its operations found another state than the
// batch was made for; then nothing of it was done.
func ExecuteBatch(ctx context.Context, c *azcosmos.ContainerClient, batch azcosmos.TransactionalBatch) error {
	response, err := c.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil || response.Success {
		return ToBlogError(err)
	}
	return BatchError(response)
}

var errItemsChanged = blog.Errorf(blog.Conflict, "The items are not as they were.")

// BatchError is the error of a batch of which nothing was done because of one of its operations.
func BatchError(response azcosmos.TransactionalBatchResponse) error {
	for _, result := range response.OperationResults {
		switch result.StatusCode {
		case http.StatusFailedDependency:
		case http.StatusConflict, http.StatusPreconditionFailed, http.StatusNotFound:
			return errItemsChanged
		case http.StatusTooManyRequests, StatusRetryWith:
			return &blog.Error{Code: blog.Throttled, Message: tooManyUpdates, RetryAfter: DefaultRetryAfter}
		default:
			return blog.Errorf(blog.Internal, "An operation of a batch was refused with %d.", result.StatusCode)
		}
	}
	return nil
}
