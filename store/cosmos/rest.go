package cosmos

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
)

// restClient sends the requests for which azcosmos has no call: for stored procedures, triggers and
// offers. regionPolicy sends them to the region that writes.
type restClient struct {
	endpoint string
	database string
	pipeline runtime.Pipeline
	backoff  backoff

	timeouts scriptTimeouts // also of writes with triggers
}

// The REST API version, the same as that of azcosmos.
const (
	versionHeader = "X-Ms-Version"
	apiVersion    = "2020-11-05"
)

func newRESTClient(options Options, clientOptions azcore.ClientOptions) (*restClient, error) {
	policies, err := tokenPolicies(options)
	if err != nil {
		return nil, err
	}
	pipeline := runtime.NewPipeline("cosmosblog/store", "v1", runtime.PipelineOptions{PerRetry: policies}, &clientOptions)
	return &restClient{
		endpoint: options.Endpoint,
		database: options.Database,
		pipeline: pipeline,
		backoff:  backoff{options.Sleep},

		timeouts: scriptTimeouts{now: options.Now},
	}, nil
}

// newRequest returns a request for a script, or for the list of all scripts of its kind if id is
// empty.
func (c *restClient) newRequest(ctx context.Context, method string, s Script, id string) (*policy.Request, error) {
	path := "dbs/" + url.PathEscape(c.database) + "/colls/" + s.Container + "/" + s.kind()
	if id != "" {
		path += "/" + id
	}
	request, err := runtime.NewRequest(ctx, method, runtime.JoinPaths(c.endpoint, path))
	if err != nil {
		return nil, err
	}
	request.Raw().Header.Set(versionHeader, apiVersion)
	return request, nil
}

func (c *restClient) send(request *policy.Request, body []byte, success int, result any) error {
	_, err := c.exchange(request, body, success, result)
	return err
}

// exchange is send, and returns the header of the answer.
func (c *restClient) exchange(request *policy.Request, body []byte, success int, result any) (http.Header, error) {
	if body != nil {
		if err := request.SetBody(streaming.NopCloser(bytes.NewReader(body)), "application/json"); err != nil {
			return nil, err
		}
	}
	response, err := c.pipeline.Do(request)
	if err != nil {
		return nil, err
	}
	if !runtime.HasStatusCode(response, success) {
		return nil, runtime.NewResponseError(response)
	}
	if result == nil {
		return response.Header, nil
	}
	answer, err := runtime.Payload(response)
	if err != nil || len(answer) == 0 {
		return response.Header, err
	}
	if err := unmarshal(answer, result); err != nil {
		return nil, fmt.Errorf("decoding an answer: %s", err) // not permanent: a retry may get another one
	}
	return response.Header, nil
}
