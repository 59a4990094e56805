package cosmos

import (
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// newClient returns the azcosmos client. It sends nothing.
func newClient(options Options, pipeline azcore.ClientOptions) (*azcosmos.Client, error) {
	pipeline.PerCallPolicies = []policy.Policy{untracedPolicy{}}
	clientOptions := &azcosmos.ClientOptions{ClientOptions: pipeline}
	if options.Key == "" {
		return azcosmos.NewClient(options.Endpoint, options.Credential, clientOptions)
	}
	credential, err := azcosmos.NewKeyCredential(options.Key)
	if err != nil {
		return nil, err
	}
	return azcosmos.NewClientWithKey(options.Endpoint, credential, clientOptions)
}

// Limits of azcore's retries of throttled requests. If the service requests a longer wait than
// maxThrottleDelay, azcore does not retry.
const (
	throttleRetries  = 3
	maxThrottleDelay = 2 * time.Second
)

// pipeline returns the options that azcosmos and restClient share. A request passes the policies in
// the order of the list. recorderPolicy comes after conflictPolicy and regionPolicy, and so
// records their retries.
//
// By default, azcore retries every transport error, including those of writes, and could write
// twice. ShouldRetry therefore limits it to 429: the service rejects such a request before it
// executes it.
func (o Options) pipeline(regions *accountRegions, throttles *throttleMonitor, clock *databaseClock, writes *writeObservers) (azcore.ClientOptions, error) {
	var signing []policy.Policy
	if o.Key != "" {
		key, err := newAccountKey(o)
		if err != nil {
			return azcore.ClientOptions{}, err
		}
		signing = []policy.Policy{keyPolicy{key}}
	}
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
		PerRetryPolicies: append(signing,
			partitionKeyPolicy{},
			conflictPolicy{sleep: o.Sleep},
			regionPolicy{accountRegions: regions, sleep: o.Sleep},
			fencePolicy{},
			metadataPolicy{},
			priorityPolicy{o.BackgroundBucket},
			sessionPolicy{backoff{o.Sleep}},
			writePolicy{writes},
			recorderPolicy{o.Recorder},
			throttlePolicy{throttles},
			clockPolicy{clock},
			connectionPolicy{},
			answersPolicy{},
		),
	}, nil
}
