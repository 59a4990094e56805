package api

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/guard/request"
	"cosmosblog/internal/telemetry"
)

// execution is a gqlgen extension. It records the name and type of each operation, and writes the
// values of root fields, a few at a time, into buffers that are used again.
//
// How large a value is, nobody knows before: one content may stand in it thirty times. It counts in
// the memory of answers before it is copied into its answer. If there is no room, the answer gets
// null instead, and is not sent. Writing needs a processor all the time, so more of them at a time
// would not be faster.
type execution struct {
	turns chan struct{} // has an element for each buffer in use
}

func newExecution() execution { return execution{make(chan struct{}, 2*runtime.GOMAXPROCS(0))} }

// values are the buffers. Collections of garbage drop those that are not used.
var values = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ExtensionName returns the name that gqlgen requires.
func (execution) ExtensionName() string { return "Execution" }

// Validate accepts any schema.
func (execution) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse records the operation while its response is computed. A request without a valid
// operation records none.
func (execution) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	operation := graphql.GetOperationContext(ctx).Operation
	if operation == nil {
		return next(ctx)
	}
	ctx, done := telemetry.ExchangeOf(ctx).Operate(ctx, operation.Name, string(operation.Operation))
	defer done()
	return next(ctx)
}

// InterceptRootField returns the value of a field of Query or Mutation.
func (x execution) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	value := next(ctx)
	memory := request.Of(ctx).Memory
	if value == graphql.Null || memory == nil { // gqlgen compares with Null
		return value
	}
	return graphql.WriterFunc(func(w io.Writer) { x.write(w, value, memory) })
}

func (x execution) write(w io.Writer, value graphql.Marshaler, memory request.Memory) {
	x.turns <- struct{}{}
	defer func() { <-x.turns }()
	buffer := values.Get().(*bytes.Buffer)
	defer values.Put(buffer)
	buffer.Reset()
	value.MarshalGQL(buffer)
	if !memory.Write(buffer.Len()) {
		graphql.Null.MarshalGQL(w)
		return
	}
	_, _ = w.Write(buffer.Bytes())
}

var _ interface {
	graphql.HandlerExtension
	graphql.ResponseInterceptor
	graphql.RootFieldInterceptor
} = execution{}
