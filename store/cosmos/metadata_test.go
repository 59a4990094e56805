package cosmos_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"cosmosblog/store/cosmos"
)

// TestMetadataReadsHaveATimeout checks that reads of metadata have a timeout, for any names of
// database and containers. Reads of items and change feeds must have no additional timeout.
func TestMetadataReadsHaveATimeout(t *testing.T) {
	for path, limited := range map[string]bool{
		"/":                                   true,
		"/dbs/docs":                           true,
		"/dbs/docs/colls/posts":               true,
		"/dbs/a/colls/docs/pkranges":          true,
		"/dbs/docs/colls/docs/pkranges":       true,
		"/dbs/a/colls/posts/sprocs":           true,
		"/dbs/a/colls/posts/docs":             false,
		"/dbs/a/colls/posts/docs/p_1":         false,
		"/dbs/docs/colls/docs/docs/docs":      false,
		"/dbs/a/colls/posts/docs/c_1":         false,
		"/dbs/documents/colls/docsets/docs/x": false,
	} {
		if got := hasTimeout(t, path); got != limited {
			t.Errorf("a read of %s has a timeout: %t, want %t", path, got, limited)
		}
	}
}

func hasTimeout(t *testing.T, path string) (limited bool) {
	pipeline := runtime.NewPipeline("test", "1", runtime.PipelineOptions{PerRetry: []policy.Policy{cosmos.MetadataPolicy{}}},
		&policy.ClientOptions{Transport: answering(func(request *http.Request) {
			deadline, ok := request.Context().Deadline()
			limited = ok && time.Until(deadline) <= cosmos.MetadataTimeout
		})})
	request, err := runtime.NewRequest(t.Context(), http.MethodGet, "https://account.invalid"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Do(request); err != nil {
		t.Fatal(err)
	}
	return limited
}

// answering is a transport that passes each request to a function and answers 200.
type answering func(*http.Request)

func (look answering) Do(request *http.Request) (*http.Response, error) {
	look(request)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}
