package cosmos_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"cosmosblog/store/cosmos"
)

// Reads of metadata have a limit, whatever the database and the containers are called; reads of items and change feeds have
// none but their caller's.
func TestMetadataHasALimit(t *testing.T) {
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
		if got := hasLimit(t, path); got != limited {
			t.Errorf("a read of %s has a limit: %t", path, got)
		}
	}
}

func hasLimit(t *testing.T, path string) (limited bool) {
	pipeline := runtime.NewPipeline("test", "1", runtime.PipelineOptions{PerRetry: []policy.Policy{cosmos.MetadataPolicy{}}},
		&policy.ClientOptions{Transport: answering(func(request *http.Request) {
			deadline, ok := request.Context().Deadline()
			limited = ok && time.Until(deadline) <= cosmos.MetadataLimit
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

// answering is a transport that looks at each request, and answers that all is well.
type answering func(*http.Request)

func (look answering) Do(request *http.Request) (*http.Response, error) {
	look(request)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}
