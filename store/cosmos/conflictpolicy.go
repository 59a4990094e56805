package cosmos

import (
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// conflictRetryPolicy retries a request whose transaction conflicted with a concurrent one
// (backoff). Nothing of the transaction was committed, so a retry is safe. Neither azcosmos nor
// azcore retries these. If the last try conflicts too, the caller gets its answer.
type conflictRetryPolicy struct{ backoff }

func (p conflictRetryPolicy) Do(request *policy.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := request.Next()
		if err != nil || !isTransactionConflict(response) || !p.wait(request.Raw().Context(), try) {
			return response, err
		}
		runtime.Drain(response)
		if err := request.RewindBody(); err != nil {
			return nil, err
		}
	}
}

// isTransactionConflict reports whether a transaction conflicted with a concurrent one. The service
// answers 449, or 400 if one of our scripts ended with the status of the conflicting operation.
func isTransactionConflict(response *http.Response) bool {
	switch response.StatusCode {
	case StatusRetryWith:
		return true
	case http.StatusBadRequest:
		switch substatusOf(response) {
		case http.StatusConflict, http.StatusPreconditionFailed, StatusRetryWith:
			return true
		}
	}
	return false
}
