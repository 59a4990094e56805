package cosmos

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// WithFence returns a context whose requests are sent only while check returns nil. Otherwise they
// fail with check's error. For example, a worker that lost its lease stops before its next request.
// check is called concurrently, before each try of each request. It is not called for metadata,
// which azcosmos reads in a context of its own.
func WithFence(ctx context.Context, check func() error) context.Context {
	return withCall(ctx, func(c *call) { c.fence = check })
}

// fencePolicy checks the fence of the request's context.
type fencePolicy struct{}

func (fencePolicy) Do(request *policy.Request) (*http.Response, error) {
	if err := checkFence(request.Raw().Context()); err != nil {
		return nil, err
	}
	return request.Next()
}

// checkFence returns the error of the fence of ctx, or nil if it has none.
func checkFence(ctx context.Context) error {
	if check := callOf(ctx).fence; check != nil {
		return check()
	}
	return nil
}
