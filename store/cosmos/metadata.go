package cosmos

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// metadataLimit is how long an answer about the account, a container or its ranges may take. They are small, and read at
// once where the account is well.
const metadataLimit = 10 * time.Second

// metadataPolicy gives reads of metadata a limit. azcosmos waits for their answers on behalf of all of its callers, in a
// context that no caller's end ends: without a limit, one that never comes would stop whoever needs it, for ever.
type metadataPolicy struct{}

func (metadataPolicy) Do(request *policy.Request) (*http.Response, error) {
	if request.Raw().Method != http.MethodGet {
		return request.Next()
	}
	if _, ofItems := TargetOf(request.Raw()); ofItems {
		return request.Next()
	}
	ctx, cancel := context.WithTimeout(request.Raw().Context(), metadataLimit)
	defer cancel() // by then the answer's body is in memory
	return request.WithContext(ctx).Next()
}
