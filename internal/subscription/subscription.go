// Package subscription executes subscriptions. It opens the streams that the resolvers make
// (package stream), executes the selection for each event, and passes the answer to a transport.
// It knows neither the schema nor the transports.
//
// The answers of equal subscriptions to an event are one: the first subscriber that comes to the
// event executes the selection and pays for it, and the others get what it got.
package subscription

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/budget"
	"cosmosblog/internal/limits"
	"cosmosblog/internal/memorypool"
	"cosmosblog/internal/price"
	"cosmosblog/internal/stream"
	"cosmosblog/internal/strictjson"
)

// API is what a Server needs of the API that it serves. It may be used concurrently.
type API interface {
	// CreateOperation returns the valid and priced operation of a request, and a key. Operations with
	// equal keys and the same event have the same answer; with an empty key, the answer is the
	// client's alone. Otherwise it returns errors, with what is known of the operation.
	CreateOperation(ctx context.Context, params *graphql.RawParams) (o *graphql.OperationContext, key string, errs gqlerror.List)
	// Encode returns a response as JSON. The response can be changed to one within the limits. o is
	// nil if nothing was executed.
	Encode(ctx context.Context, o *graphql.OperationContext, r *graphql.Response) []byte
	// Present returns the error that clients see instead of err.
	Present(ctx context.Context, err error) *gqlerror.Error
	// TakePlace takes a place among the operations in flight. It returns false if none is free.
	TakePlace() (leave func(), ok bool)
	// Client returns the user id of the account of a request, or "", and the address, or an invalid
	// one.
	Client(ctx context.Context) (account string, address netip.Addr)
}

// Options configure New. All are required.
type Options struct {
	API      API
	Executor *executor.Executor
	Books    *budget.Books
	Answers  *memorypool.Pool // memory of all large answers
	Limits   limits.Limits
	Now      func() time.Time
	Count    func(change int) // adds to the number of open subscriptions
}

// Server executes subscriptions. It may be used concurrently.
type Server struct {
	Options
	places places
	shared sharedAnswers
}

// New returns a server without subscriptions.
func New(o Options) *Server {
	return &Server{
		Options: o,
		places:  places{all: o.Limits.Streams, perAddress: o.Limits.AddressStreams, perAccount: o.Limits.AccountStreams},
		shared:  sharedAnswers{now: o.Now},
	}
}

const (
	// statesApart is the least time between two states. People see no more than twenty a second.
	statesApart = 50 * time.Millisecond
	// retryAfter is the pause after a failure that is temporary, if it does not name another.
	retryAfter = 250 * time.Millisecond
	// maxFailing is the time after which a failure that stays is told to the client.
	maxFailing = 10 * time.Second
)

// MaxRequest is the size of a subscription's query and variables, in bytes of JSON. They stay in
// memory as long as the stream. The largest queries of known clients are much smaller.
const MaxRequest = 64 << 10

var (
	errOnlyStreams = blog.Errorf(blog.BadUserInput, "WebSockets and event streams are for subscriptions. Send queries and mutations with POST, and accept JSON.")
	errTooMany     = blog.Errorf(blog.LimitExceeded, "Too many subscriptions are open, in all, from your network, or of your account. Close some.")
	errTooLarge    = blog.Errorf(blog.LimitExceeded, "The query and variables of a subscription must have at most %d bytes.", MaxRequest)
	errNoStream    = blog.Errorf(blog.BadUserInput, "A subscription must select one field of `Subscription`, and not `__typename`.")
	errTimeout     = &blog.Error{Code: blog.Timeout, Message: "The event expired before it was executed. Subscribe again.", RetryAfter: time.Second}
	errNoMemory    = &blog.Error{Code: blog.Overloaded, Message: "The server is busy with large responses. Request less at a time.", RetryAfter: time.Second}
)

// Message is an answer of a subscription.
type Message struct {
	Body   []byte // a GraphQL response in JSON; it must not be changed
	Cursor string // from which another subscription goes on; empty if it has none
}

// Run executes a subscription until it ends. after replaces the argument `after` if it is not
// empty. Run calls send with each answer, and reads the next event when send has returned. The
// context of send does not end with ctx. It ends if the client is slow and others need the memory
// of its answer: send must then give up the connection.
//
// Run returns the errors of a subscription that cannot begin: if its document, variables or
// arguments are invalid, the client's budget is used up, or too many are open. Otherwise it
// returns nil at the end of the stream, or the error of ctx or send.
func (s *Server) Run(
	ctx context.Context, params *graphql.RawParams, after string, send func(context.Context, Message) error,
) (refused gqlerror.List, err error) {
	x, refused := s.open(ctx, params, after)
	if len(refused) > 0 {
		return refused, nil
	}
	defer x.close()
	for {
		a, cursor, err := x.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if err := a.send(ctx, cursor, send); err != nil {
			return nil, err
		}
	}
}

// execution is a subscription that is executed.
type execution struct {
	*Server
	params  graphql.RawParams
	key     string // of API.CreateOperation
	price   float64
	stream  stream.Stream
	follow  func(context.Context) context.Context // stream.Opening.Follow
	leave   func()
	account string
	address netip.Addr
	payment *budget.Payment // of what the stream reads

	event   *stream.Event     // that is not answered yet
	last    [sha256.Size]byte // hash of the state that was sent last; equal ones are not sent again
	lastAt  time.Time         // of the last answer
	isState bool              // the last answer was a state
	ended   bool
}

// open begins a subscription, or returns why it cannot begin.
func (s *Server) open(ctx context.Context, params *graphql.RawParams, after string) (*execution, gqlerror.List) {
	refuse := func(err error) (*execution, gqlerror.List) { return nil, gqlerror.List{s.API.Present(ctx, err)} }
	x := &execution{Server: s}
	if !copyParams(&x.params, params) {
		return refuse(errTooLarge)
	}
	ctx = graphql.StartOperationTrace(ctx)
	opening := x.params // what the stream keeps of it shares no memory with the request
	opening.Extensions = params.Extensions
	operation, key, errs := s.API.CreateOperation(ctx, &opening)
	if len(errs) > 0 {
		return nil, s.Executor.DispatchError(graphql.WithOperationContext(ctx, operation), errs).Errors
	}
	if operation.Operation.Operation != ast.Subscription {
		return refuse(errOnlyStreams)
	}
	x.key, x.price = key, price.Of(operation).RU
	x.account, x.address = s.API.Client(ctx)
	var err error
	if x.payment, err = s.Books.Begin(x.account, x.address, false, 0); err != nil {
		return refuse(err)
	}
	leave, ok := s.places.enter(x.address, x.account)
	if !ok {
		return refuse(errTooMany)
	}
	openingCtx, opened := stream.Open(ctx, after)
	responses, dispatched := s.Executor.DispatchOperation(openingCtx, operation)
	if opened.Stream == nil {
		leave()
		if response := responses(dispatched); response != nil && len(response.Errors) > 0 {
			return nil, response.Errors
		}
		return refuse(errNoStream)
	}
	s.Count(1)
	x.stream, x.follow, x.leave = opened.Stream, opened.Follow, leave
	return x, nil
}

// close ends the subscription.
func (x *execution) close() {
	x.stream.Close()
	x.leave()
	x.Count(-1)
	x.payment.End("(streams)", budget.Spending{})
}

// copyParams copies what an execution needs of a request. What it copies shares no memory with the
// body of the request. It returns false if it is larger than MaxRequest.
func copyParams(to, from *graphql.RawParams) bool {
	text, err := json.Marshal([]any{from.Query, from.OperationName, from.Variables})
	if err != nil || len(text) > MaxRequest {
		return false
	}
	parsed, err := strictjson.Parse(string(text))
	if err != nil {
		return false
	}
	values := parsed.([]any)
	to.Headers, to.Query, to.OperationName = from.Headers, values[0].(string), values[1].(string)
	to.Variables, _ = values[2].(map[string]any)
	return true
}

// next returns the next answer and its cursor, after it has waited for it. The caller must send or
// close it. Error: io.EOF at the end, and ctx's.
func (x *execution) next(ctx context.Context) (*answer, string, error) {
	if x.ended {
		return nil, "", io.EOF
	}
	var failing time.Time
	for {
		a, cursor, err := x.try(ctx)
		switch {
		case err == nil && a == nil: // nothing new
		case err == nil, errors.Is(err, io.EOF), ctx.Err() != nil:
			return a, cursor, err
		case waitOf(err) > 0 && (failing.IsZero() || x.Now().Sub(failing) < maxFailing):
			if failing.IsZero() {
				failing = x.Now()
			}
			if err := sleep(ctx, max(retryAfter, waitOf(err))); err != nil {
				return nil, "", err
			}
		default:
			x.ended = true
			failed := &graphql.Response{Errors: gqlerror.List{x.present(ctx, err)}}
			return newAnswer(x.API.Encode(ctx, nil, failed), nil), "", nil
		}
	}
}

// present returns the error that the client sees instead of err.
func (x *execution) present(ctx context.Context, err error) *gqlerror.Error {
	if e, ok := errors.AsType[*temporaryError](err); ok {
		return e.shown
	}
	return x.API.Present(ctx, err)
}

// try waits for the next event and answers it. It returns nil if the answer is the state that was
// sent last. After an error, the next try answers the same event.
func (x *execution) try(ctx context.Context) (*answer, string, error) {
	if x.event == nil {
		if x.isState { // before the next one is read, so that the selection is of the same moment
			if err := sleep(ctx, statesApart-x.Now().Sub(x.lastAt)); err != nil {
				return nil, "", err
			}
		}
		event, err := x.stream.Next(x.follow(ctx))
		x.payment.Add("(streams)", event.Spent)
		if err != nil {
			return nil, "", err
		}
		x.event = &event
	}
	event := *x.event
	a, err := x.answer(ctx, event)
	if err != nil {
		return nil, "", err
	}
	x.event, x.ended, x.isState, x.lastAt = nil, event.IsLast, event.IsState, x.Now()
	if event.IsState && !event.IsLast && a.hash == x.last {
		a.close()
		return nil, "", nil
	}
	x.last = a.hash
	return a, event.Cursor, nil
}

// sleep waits for a time, if it is positive. Error: ctx's.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
