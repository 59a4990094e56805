package resolvers

import (
	"context"
	"math"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/store"
)

const diagnosticsHeader = "X-Cosmos-Diagnostics"

// wantsDiagnostics tells whether the request asks for diagnostics and may have them.
func (r *Resolver) wantsDiagnostics(ctx context.Context) bool {
	return r.diagnostics && graphql.HasOperationContext(ctx) &&
		graphql.GetOperationContext(ctx).Headers.Get(diagnosticsHeader) == "1"
}

// diagnostics collects what was sent to Cosmos DB for one answer. It is the store's Recorder.
type diagnostics struct {
	mu       sync.Mutex
	requests []sentRequest
}

// sentRequest is a request as extensions.cosmos shows it.
type sentRequest struct {
	Path          ast.Path `json:"path"` // of the field whose resolver sent it
	Container     string   `json:"container"`
	Operation     string   `json:"operation"`
	PartitionKey  any      `json:"partitionKey"` // a string; a list of them with readMany
	RequestCharge float64  `json:"requestCharge"`
	Status        int      `json:"status"`
}

// Record notes a request together with the field that the context belongs to.
func (d *diagnostics) Record(ctx context.Context, request store.Request) {
	sent := sentRequest{
		Path:          ast.Path{},
		Container:     request.Container,
		Operation:     request.Operation,
		PartitionKey:  partitionKeyOf(request),
		RequestCharge: request.Charge,
		Status:        request.Status,
	}
	if field := graphql.GetFieldContext(ctx); field != nil {
		sent.Path = field.Path()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, sent)
}

func partitionKeyOf(request store.Request) any {
	if request.Operation == "readMany" || len(request.PartitionKeys) != 1 {
		return request.PartitionKeys
	}
	return request.PartitionKeys[0]
}

// addTo puts what was collected into the answer as extensions.cosmos, with the price that was counted before.
func (d *diagnostics) addTo(response *graphql.Response, estimate float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := 0.0
	for _, request := range d.requests {
		total += request.RequestCharge
	}
	if response.Extensions == nil {
		response.Extensions = map[string]any{}
	}
	response.Extensions["cosmos"] = map[string]any{
		"estimate":      estimate,
		"requestCharge": math.Round(total*100) / 100, // the service gives charges with two digits
		"requests":      append([]sentRequest{}, d.requests...),
	}
}
