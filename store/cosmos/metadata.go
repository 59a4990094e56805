package cosmos

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// metadataTimeout is the timeout of a read of the account, a container or its feed ranges. A
// healthy account answers these reads at once.
const metadataTimeout = 10 * time.Second

// metadataPolicy sets a timeout for reads of metadata. azcosmos shares such a read among all its
// callers, in a context that no caller can cancel. Without a timeout, a read that is never
// answered would block all of them forever.
type metadataPolicy struct{}

func (metadataPolicy) Do(request *policy.Request) (*http.Response, error) {
	if request.Raw().Method != http.MethodGet {
		return request.Next()
	}
	if _, ofItems := TargetOf(request.Raw()); ofItems {
		return request.Next()
	}
	ctx, cancel := context.WithTimeout(request.Raw().Context(), metadataTimeout)
	defer cancel() // the body of the answer is in memory by then
	return request.WithContext(ctx).Next()
}
