package resolvers

import (
	"context"
	"math"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/guard/budget"
	"cosmosblog/store/cosmos"
)

const diagnosticsHeader = "X-Cosmos-Diagnostics"

// requestsDiagnostics reports whether the request has the header for diagnostics.
func requestsDiagnostics(ctx context.Context) bool {
	return graphql.HasOperationContext(ctx) &&
		graphql.GetOperationContext(ctx).Headers.Get(diagnosticsHeader) == "1"
}

// diagnostics collects the requests that one operation sends to Cosmos DB. It is a
// cosmos.Recorder.
type diagnostics struct {
	mu       sync.Mutex
	requests []sentRequest
}

// sentRequest is one request in extensions.cosmos.
type sentRequest struct {
	Path          ast.Path `json:"path"` // of the field whose resolver sent it
	Container     string   `json:"container"`
	Operation     string   `json:"operation"`
	PartitionKey  any      `json:"partitionKey"` // a string, or a list of strings for readMany
	RequestCharge float64  `json:"requestCharge"`
	Status        int      `json:"status"`
	Cached        bool     `json:"cached,omitempty"`      // no request was needed
	SavedCharge   float64  `json:"savedCharge,omitempty"` // of a cached read: what it cost once
}

// Record implements cosmos.Recorder. It adds the path of the field that the context belongs to.
func (d *diagnostics) Record(ctx context.Context, request cosmos.Request) {
	sent := sentRequest{
		Path:          ast.Path{},
		Container:     request.Container,
		Operation:     request.Operation,
		PartitionKey:  partitionKeyOf(request),
		RequestCharge: request.Charge,
		Status:        request.Status,
		Cached:        request.Cached,
		SavedCharge:   rounded(request.SavedCharge),
	}
	if field := graphql.GetFieldContext(ctx); field != nil {
		sent.Path = field.Path()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, sent)
}

func partitionKeyOf(request cosmos.Request) any {
	if request.Operation == cosmos.OperationReadMany || len(request.PartitionKeys) != 1 {
		return request.PartitionKeys
	}
	return request.PartitionKeys[0]
}

// addTo adds extensions.cosmos to a response: the requests, their total charge, and the estimate,
// which is the operation's price in RU.
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
		"requestCharge": rounded(total),
		"requests":      append([]sentRequest{}, d.requests...),
	}
}

// rounded returns a charge with two digits, as the service reports charges.
func rounded(charge float64) float64 { return math.Round(charge*100) / 100 }

// addBudget adds extensions.budget to a response: what the operation has spent, the price of the
// background work that it caused, by kind, and what is left of the client's budgets, in RU.
func addBudget(response *graphql.Response, p *budget.Payment, s budget.Spending) {
	if p == nil {
		return
	}
	state := map[string]any{"spent": s.Spent}
	if len(s.Caused) > 0 {
		state["caused"] = s.Caused
	}
	for _, of := range p.States() {
		state[of.Kind.String()] = map[string]any{"perSecond": of.Rate, "size": of.Size, "left": math.Floor(of.Left), "debt": math.Ceil(of.Debt)}
	}
	response.Extensions["budget"] = state
}
