package cosmos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"cosmosblog/store/cosmos/retry"
)

// restClient sends the requests for which azcosmos has no call: for stored procedures, triggers and
// offers. retry.RegionPolicy sends them to the region that writes.
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

// Execute executes a stored procedure in one partition with one argument, and decodes its answer
// into result. repeated is true if it was executed more than once.
//
// If the outcome of an execution is unknown, or there is no connection, Execute executes the
// procedure again, at most five times in all, but after 408 only once more (IsExhausted). All of
// our procedures are idempotent, so that is safe. If repeated is true and the answer reports a
// change as already made, an earlier try of this call may have made it. Execute may be called
// concurrently. Errors: those of ToBlogError; NOT_FOUND if the procedure is not registered.
func (db *DB) Execute(ctx context.Context, s Script, partition string, argument, result any) (repeated bool, err error) {
	return db.rest.execute(ctx, s, partition, argument, result)
}

func (c *restClient) execute(ctx context.Context, s Script, partition string, argument, result any) (repeated bool, err error) {
	body, err := json.Marshal([]any{argument})
	if err != nil {
		return false, ToBlogError(err)
	}
	key := func() purposeHash { return hashPurpose(s.ID, partition, string(body)) }
	var unknown error // of the last execution that may have been committed
	for try := 1; ; try++ {
		err = c.timeouts.execute(ctx, key, func(ctx context.Context) error {
			return c.executeOnce(ctx, s, partition, body, result, tryCount(try-1))
		})
		switch {
		case OutcomeUnknown(ctx, err):
			unknown = err
		case retry.IsNotSent(err):
		case unknown != nil && IsThrottled(ToBlogError(err)): // this one was not executed
			return true, ToBlogError(unknown)
		default:
			return try > 1, ToBlogError(err)
		}
		if !c.backoff.wait(ctx, try) {
			return try > 1, ToBlogError(err)
		}
	}
}

func (c *restClient) executeOnce(ctx context.Context, s Script, partition string, body []byte, result any, before tryCount) error {
	request, err := c.newRequest(ctx, http.MethodPost, s, s.ID)
	if err != nil {
		return err
	}
	key, err := json.Marshal([]string{partition})
	if err != nil {
		return err
	}
	request.Raw().Header.Set(PartitionKeyHeader, string(key))
	request.SetOperationValue(before)
	return c.send(request, body, http.StatusOK, result)
}

// ReadScript reads the definition of a script. exists is false if no script is registered under the
// id. It requires the account's key: with an Entra ID token, the error satisfies
// IsManagementForbidden.
func (db *DB) ReadScript(ctx context.Context, s Script) (registered ScriptDefinition, exists bool, err error) {
	return db.rest.readScript(ctx, s)
}

func (c *restClient) readScript(ctx context.Context, s Script) (registered ScriptDefinition, exists bool, err error) {
	request, err := c.newRequest(ctx, http.MethodGet, s, s.ID)
	if err != nil {
		return registered, false, err
	}
	exists, err = ExistsFromError(c.send(request, nil, http.StatusOK, &registered))
	return registered, exists, err
}

// IsServerless reports whether the account is serverless. Such an account rejects a request for the
// list of its throughputs (offers).
func (db *DB) IsServerless(ctx context.Context) (bool, error) { return db.rest.isServerless(ctx) }

func (c *restClient) isServerless(ctx context.Context) (bool, error) {
	request, err := runtime.NewRequest(ctx, http.MethodGet, runtime.JoinPaths(c.endpoint, "offers"))
	if err != nil {
		return false, err
	}
	request.Raw().Header.Set(versionHeader, apiVersion)
	err = c.send(request, nil, http.StatusOK, nil)
	if status, _ := StatusOf(err); status == http.StatusBadRequest && strings.Contains(err.Error(), "serverless") {
		return true, nil
	}
	return false, err
}

// RegisterScript registers a script. created is false if it was registered before. Its text is then
// the same, because the id contains a hash of the text.
func (db *DB) RegisterScript(ctx context.Context, s Script) (created bool, err error) {
	return db.rest.register(ctx, s)
}

func (c *restClient) register(ctx context.Context, s Script) (created bool, err error) {
	request, err := c.newRequest(ctx, http.MethodPost, s, "")
	if err != nil {
		return false, err
	}
	body, err := json.Marshal(s.Definition())
	if err != nil {
		return false, err
	}
	return CreatedFromError(c.send(request, body, http.StatusCreated, nil))
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

// readAccount reads the description of the account at a host. RegionPolicy takes the regions from
// the answer.
func (c *restClient) readAccount(ctx context.Context, host string) error {
	request, err := runtime.NewRequest(ctx, http.MethodGet, c.endpoint)
	if err != nil {
		return err
	}
	request.Raw().Host, request.Raw().URL.Host = host, host
	request.Raw().Header.Set(versionHeader, apiVersion)
	return c.send(request, nil, http.StatusOK, nil)
}

// PartitionKeyRange is a physical partition of a container, as the account describes it.
type PartitionKeyRange struct {
	MinInclusive string `json:"minInclusive"`
	MaxExclusive string `json:"maxExclusive"`
}

// ReadPartitionKeyRanges reads the present ranges of a container, in no order. azcosmos keeps them
// until a request of this process finds that one is gone, so others' splits and merges would stay
// unknown to a process that reads none of the ranges.
func (db *DB) ReadPartitionKeyRanges(ctx context.Context, container string) ([]PartitionKeyRange, error) {
	return db.rest.readPartitionKeyRanges(ctx, container)
}

func (c *restClient) readPartitionKeyRanges(ctx context.Context, container string) ([]PartitionKeyRange, error) {
	path := "dbs/" + url.PathEscape(c.database) + "/colls/" + container + "/pkranges"
	request, err := runtime.NewRequest(ctx, http.MethodGet, runtime.JoinPaths(c.endpoint, path))
	if err != nil {
		return nil, err
	}
	request.Raw().Header.Set(versionHeader, apiVersion)
	request.Raw().Header.Set("X-Ms-Max-Item-Count", "-1") // all in one page
	var answer struct{ PartitionKeyRanges []PartitionKeyRange }
	err = c.send(request, nil, http.StatusOK, &answer)
	return answer.PartitionKeyRanges, ToBlogError(err)
}
