package store

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
)

// procedureClient is our REST client for stored procedures and triggers, which azcosmos has no calls for. It sends to
// the configured endpoint, which leads to the region that is written to.
type procedureClient struct {
	endpoint string
	database string
	pipeline runtime.Pipeline
	again    patience
}

// The version of the REST API is azcosmos' own.
const (
	versionHeader = "X-Ms-Version"
	apiVersion    = "2020-11-05"
)

func newProcedureClient(options Options) (*procedureClient, error) {
	policies, err := authorization(options)
	if err != nil {
		return nil, err
	}
	clientOptions := options.pipeline()
	pipeline := runtime.NewPipeline("cosmosblog/store", "v1", runtime.PipelineOptions{PerRetry: policies}, &clientOptions)
	return &procedureClient{
		endpoint: options.Endpoint,
		database: options.Database,
		pipeline: pipeline,
		again:    patience{sleep: options.Sleep},
	}, nil
}

// execute runs a stored procedure in one partition with one argument and reads its answer into result.
//
// Every one of our procedures may be executed again with the same argument without harm, so where nobody knows whether
// an execution was committed, it is executed again. repeated says that this happened: what the answer finds already
// done may be this call's own work.
func (c *procedureClient) execute(ctx context.Context, s script, partition string, argument, result any) (repeated bool, err error) {
	body, err := json.Marshal([]any{argument})
	if err != nil {
		return false, asBlogError(err)
	}
	for try := 1; ; try++ {
		err = c.executeOnce(ctx, s, partition, body, result, tries(try-1))
		if !outcomeUnknown(ctx, err) || !c.again.after(ctx, try) {
			return try > 1, asBlogError(err)
		}
	}
}

func (c *procedureClient) executeOnce(ctx context.Context, s script, partition string, body []byte, result any, before tries) error {
	request, err := c.newRequest(ctx, http.MethodPost, s, s.id)
	if err != nil {
		return err
	}
	key, err := json.Marshal([]string{partition})
	if err != nil {
		return err
	}
	request.Raw().Header.Set(partitionKeyHeader, string(key))
	request.SetOperationValue(before)
	return c.send(request, body, http.StatusOK, result)
}

// read reads a script's definition, which a key may and an Entra ID token may not. there is false where none is
// registered under its id.
func (c *procedureClient) read(ctx context.Context, s script) (registered scriptDefinition, there bool, err error) {
	request, err := c.newRequest(ctx, http.MethodGet, s, s.id)
	if err != nil {
		return registered, false, err
	}
	there, err = found(c.send(request, nil, http.StatusOK, &registered))
	return registered, there, err
}

// isServerless asks the account for its throughputs, of which a serverless one says that it has none.
func (c *procedureClient) isServerless(ctx context.Context) (bool, error) {
	request, err := runtime.NewRequest(ctx, http.MethodGet, runtime.JoinPaths(c.endpoint, "offers"))
	if err != nil {
		return false, err
	}
	request.Raw().Header.Set(versionHeader, apiVersion)
	request.SetOperationValue(resource{kind: "offers"})
	err = c.send(request, nil, http.StatusOK, nil)
	if status, _ := statusOf(err); status == http.StatusBadRequest && strings.Contains(err.Error(), "serverless") {
		return true, nil
	}
	return false, err
}

// register registers a script. It says no where it is there already: the same id is the same text.
func (c *procedureClient) register(ctx context.Context, s script) (made bool, err error) {
	request, err := c.newRequest(ctx, http.MethodPost, s, "")
	if err != nil {
		return false, err
	}
	body, err := json.Marshal(s.definition())
	if err != nil {
		return false, err
	}
	return madeNew(c.send(request, body, http.StatusCreated, nil))
}

// newRequest makes a request to a script's link, or where id is empty to the list of its kind, and says what the
// signature is over.
func (c *procedureClient) newRequest(ctx context.Context, method string, s script, id string) (*policy.Request, error) {
	link := "dbs/" + c.database + "/colls/" + s.container
	path := "dbs/" + url.PathEscape(c.database) + "/colls/" + s.container + "/" + s.kind()
	if id != "" {
		link += "/" + s.kind() + "/" + id
		path += "/" + id
	}
	request, err := runtime.NewRequest(ctx, method, runtime.JoinPaths(c.endpoint, path))
	if err != nil {
		return nil, err
	}
	request.Raw().Header.Set(versionHeader, apiVersion)
	request.SetOperationValue(resource{kind: s.kind(), link: link})
	return request, nil
}

func (c *procedureClient) send(request *policy.Request, body []byte, success int, result any) error {
	if body != nil {
		if err := request.SetBody(streaming.NopCloser(bytes.NewReader(body)), "application/json"); err != nil {
			return err
		}
	}
	response, err := c.pipeline.Do(request)
	if err != nil {
		return err
	}
	if !runtime.HasStatusCode(response, success) {
		return runtime.NewResponseError(response)
	}
	if result == nil {
		return nil
	}
	return runtime.UnmarshalAsJSON(response, result)
}
