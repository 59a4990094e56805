package cosmos

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

type fenceKey struct{}

// WithFence gives a context whose requests are sent only while check gives no error; otherwise they fail with that. It is for
// work that somebody may do only for as long as it is theirs: it ends before its next request, wherever it is by then.
// check is called concurrently, before each try of each request, but not of the metadata that azcosmos reads for all of
// its callers.
func WithFence(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, fenceKey{}, check)
}

// fencePolicy asks the context's fence.
type fencePolicy struct{}

func (fencePolicy) Do(request *policy.Request) (*http.Response, error) {
	if check, ok := request.Raw().Context().Value(fenceKey{}).(func() error); ok {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return request.Next()
}
