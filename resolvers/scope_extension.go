package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/guard/limits"
	"cosmosblog/guard/price"
	"cosmosblog/guard/request"
	"cosmosblog/store/cosmos"
)

// ScopeExtension is the gqlgen extension that resolvers need. It adds a scope, a session of the
// store and, if the client requests them, diagnostics to each operation. It may be used
// concurrently.
type ScopeExtension struct {
	options ScopeOptions
}

// ScopeOptions configure a ScopeExtension. The zero value is valid.
type ScopeOptions struct {
	// Diagnostics lets clients request the charges of an operation with the header
	// X-Cosmos-Diagnostics: 1.
	Diagnostics bool
	// Limits bound what one operation reads. The default is limits.Default().
	Limits limits.Limits
}

// NewScopeExtension returns the extension.
func NewScopeExtension(options ScopeOptions) *ScopeExtension {
	options.Limits = options.Limits.OrDefault()
	return &ScopeExtension{options}
}

// ExtensionName implements graphql.HandlerExtension.
func (e *ScopeExtension) ExtensionName() string { return "Scope" }

// Validate implements graphql.HandlerExtension. It accepts every schema.
func (e *ScopeExtension) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse executes an operation in a new scope, and in a session of its own if the
// context has none (store/sessions). It removes the data of a failed query whose deadline passed
// during execution, because gqlgen leaves the lists in it empty. For mutations, InterceptRootField
// does so one by one.
func (e *ScopeExtension) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	usage := newUsage(ctx, e.options.Limits)
	ctx = withScope(cosmos.WithMeter(cosmos.InSession(ctx), &usage.meter), usage)
	var d *diagnostics
	if e.options.Diagnostics && requestsDiagnostics(ctx) {
		d = new(diagnostics)
		ctx = cosmos.WithRecorder(ctx, d)
	}
	end := func() { request.Of(ctx).Payment.End(operationName(ctx), usage.spending()) }
	defer end()
	response := next(ctx)
	if response == nil {
		return nil
	}
	if usage.ended(ctx) != nil && len(response.Errors) > 0 && !isMutation(ctx) {
		response.Data = nil
	}
	if d != nil {
		end()
		d.addTo(response, price.Of(graphql.GetOperationContext(ctx)).RU)
		addBudget(response, request.Of(ctx).Payment, usage.spending())
	}
	return response
}

// operationName returns the name of a context's operation, which may be empty.
func operationName(ctx context.Context) string {
	if !graphql.HasOperationContext(ctx) {
		return ""
	}
	if operation := graphql.GetOperationContext(ctx).Operation; operation != nil {
		return operation.Name
	}
	return ""
}

// InterceptRootField runs each mutation in its own scope. The result of a mutation that failed
// because the deadline passed, or that was not executed because the operation was charged too much
// or its budget is used up, is null. The mutations before it keep their results.
func (e *ScopeExtension) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if !isMutation(ctx) {
		return next(ctx)
	}
	u := scopeFrom(ctx).usage
	err := u.ended(ctx)
	if err == nil {
		err = u.checkCharge()
	}
	if err != nil {
		field := &graphql.FieldContext{Object: "Mutation", Field: graphql.GetRootFieldContext(ctx).Field} // its path
		graphql.AddError(graphql.WithFieldContext(ctx, field), err)
		return graphql.Null
	}
	failures := u.errors.Load()
	metered, _ := cosmos.Metered(ctx) // for MayHaveWritten
	result := next(withScope(metered, u))
	if u.ended(ctx) != nil && u.errors.Load() > failures {
		return graphql.Null
	}
	return result
}

// isMutation reports whether the operation of a context is a mutation.
func isMutation(ctx context.Context) bool {
	if !graphql.HasOperationContext(ctx) {
		return false
	}
	operation := graphql.GetOperationContext(ctx).Operation
	return operation != nil && operation.Operation == ast.Mutation // nil if the document was rejected
}

var _ interface {
	graphql.HandlerExtension
	graphql.ResponseInterceptor
	graphql.RootFieldInterceptor
} = (*ScopeExtension)(nil)
