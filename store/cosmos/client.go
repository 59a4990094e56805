package cosmos

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// newClient makes azcosmos' client. It sends nothing.
func newClient(options Options, throttles *throttleMonitor) (*azcosmos.Client, error) {
	clientOptions := &azcosmos.ClientOptions{ClientOptions: options.pipeline(throttles)}
	if options.Key == "" {
		return azcosmos.NewClient(options.Endpoint, options.Credential, clientOptions)
	}
	credential, err := azcosmos.NewKeyCredential(options.Key)
	if err != nil {
		return nil, err
	}
	return azcosmos.NewClientWithKey(options.Endpoint, credential, clientOptions)
}

// A throttled request is tried again at most this often, and not where the account asks to wait longer than this.
const (
	throttleRetries  = 3
	maxThrottleDelay = 2 * time.Second
)

// pipeline is what azcosmos' requests and those of our own REST client have in common. The policies are in the order
// in which a request passes them: what retryConflicts sends again is recorded once more.
//
// azcore would retry any error of a transport, writes included, and so write twice: ShouldRetry leaves it 429 alone,
// which was refused before it ran.
func (o Options) pipeline(throttles *throttleMonitor) azcore.ClientOptions {
	return azcore.ClientOptions{
		Transport: o.Transport,
		Retry: policy.RetryOptions{
			MaxRetries:    throttleRetries,
			MaxRetryDelay: maxThrottleDelay,
			ShouldRetry: func(response *http.Response, err error) bool {
				return err == nil && response.StatusCode == http.StatusTooManyRequests
			},
		},
		Telemetry: policy.TelemetryOptions{ApplicationID: "cosmosblog"},
		PerRetryPolicies: []policy.Policy{
			retryConflicts{Backoff{Sleep: o.Sleep}},
			fencePolicy{},
			metadataPolicy{},
			sessionPolicy{},
			recorderPolicy{o.Recorder},
			throttlePolicy{throttles},
		},
	}
}

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
