package cosmos

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// noRetryHeader forbids the service's gateway to repeat a 449 itself, which it does for up to 30 s
// (azure-cosmos-dotnet-v3, pull request 5990, GatewayStoreModel; azure-sdk-for-java, pull request
// 49332). That is longer than a command lasts.
const noRetryHeader = "X-Ms-Noretry-449"

var isTrue = []string{"True"}

// withoutConflicts returns a context whose requests conflictPolicy does not retry.
func withoutConflicts(ctx context.Context) context.Context {
	return withCall(ctx, func(c *call) { c.onlyOnce = true })
}

// conflictPolicy retries a request whose transaction conflicted with a concurrent one, until
// the context's deadline (patience). Nothing of the transaction was committed, so a retry is safe.
// Neither azcosmos nor azcore retries these, and noRetryHeader leaves them to us. If the last try
// conflicts too, the caller gets its answer, which is THROTTLED.
type conflictPolicy struct{ sleep sleepFunc }

// Do implements policy.Policy.
func (p conflictPolicy) Do(request *policy.Request) (*http.Response, error) {
	if request.Raw().Method != http.MethodGet { // queries, too
		request.Raw().Header[noRetryHeader] = isTrue
	}
	ctx := request.Raw().Context()
	for patience := (patience{ctx: ctx, sleep: p.sleep}); ; {
		response, err := request.Next()
		if err != nil || !isTransactionConflict(response) || callOf(ctx).onlyOnce || !patience.wait() {
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
