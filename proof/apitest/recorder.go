package apitest

import (
	"net/http"
	"strings"
	"sync"
)

// Recorder is a handler that records the requests for items and scripts that reach an engine.
// It does not record reads of accounts, containers and ranges. It may be used concurrently.
type Recorder struct {
	Engine http.Handler

	mu       sync.Mutex
	recorded []Recorded
}

// Recorded is a recorded request.
type Recorded struct {
	Container, Operation string
	PartitionKey         string // value of the header, a JSON array; empty if there is none
	Charge               string // request charge, as in the response's header
}

// ServeHTTP forwards a request to the engine and records it.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.Engine.ServeHTTP(w, request)
	operation := Operation(request)
	if operation == "" {
		return
	}
	parts := strings.Split(request.URL.Path, "/") // "", dbs, d, colls, c, …
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recorded = append(r.recorded, Recorded{
		Container:    parts[4],
		Operation:    operation,
		PartitionKey: request.Header.Get("x-ms-documentdb-partitionkey"),
		Charge:       w.Header().Get("x-ms-request-charge"),
	})
}

// Operation returns the name of a request's operation by its method, path and headers, such as
// "read" or "query". It returns "" for requests that a Recorder does not record.
func Operation(r *http.Request) string {
	switch is := func(part string) bool { return strings.Contains(r.URL.Path, part) }; {
	case r.Method == http.MethodPost && is("/sprocs/"):
		return "execute"
	case !is("/docs"):
		return ""
	}
	switch r.Method {
	case http.MethodGet:
		if r.Header.Get("A-IM") != "" {
			return "changeFeed"
		}
		return "read"
	case http.MethodPut:
		return "replace"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch {
	case r.Header.Get("x-ms-documentdb-query") != "" && r.Header.Get("x-ms-documentdb-partitionkey") == "":
		return "readMany"
	case r.Header.Get("x-ms-documentdb-query") != "":
		return "query"
	case r.Header.Get("x-ms-cosmos-is-batch-request") != "":
		return "batch"
	case r.Header.Get("x-ms-documentdb-is-upsert") != "":
		return "upsert"
	}
	return "create"
}

// Take returns the requests since the last call of Take.
func (r *Recorder) Take() []Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	recorded := r.recorded
	r.recorded = nil
	return recorded
}
