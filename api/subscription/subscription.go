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
	"errors"
	"io"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/graph/stream"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/memorypool"
	"cosmosblog/guard/price"
	"cosmosblog/guard/request"
)

// API is what a Server needs of the API that it serves. It may be used concurrently.
type API interface {
	// CreateOperation returns the valid and priced subscription of a request. Otherwise it returns the
	// errors that the client sees. work is the processor time of reading the document, also if it is
	// refused. The caller must release the operation.
	CreateOperation(ctx context.Context, params *graphql.RawParams) (o *Operation, work time.Duration, refused gqlerror.List)
	// Open opens the stream of an operation. Otherwise it returns the errors of the resolver.
	Open(ctx context.Context, o *graphql.OperationContext) (stream.Stream, gqlerror.List)
	// Execute executes an operation on the value of an event. The response has extensions, if only
	// empty ones.
	Execute(ctx context.Context, o *graphql.OperationContext, value any) *graphql.Response
	// Encode returns a response as JSON. The response can be changed to one within the limits. o is
	// nil if nothing was executed.
	Encode(ctx context.Context, o *graphql.OperationContext, r *graphql.Response) []byte
	// Present returns the error that clients see instead of err.
	Present(ctx context.Context, err error) *gqlerror.Error
	// TakePlace takes a place among the operations in flight. It returns false if none is free.
	TakePlace() (leave func(), ok bool)
}

// Operation is a valid and priced subscription, as a stream keeps it: its document is parsed and
// validated once, and not for each event. It shares no memory with its request.
type Operation struct {
	// Context is what all operations of new are copies of. It is not executed itself.
	Context *graphql.OperationContext
	// Key is that of the answers. Operations with equal keys have the same answer to an event; with an
	// empty key, the answer is the client's alone.
	Key string
	// Document identifies the document, which equal operations share.
	Document any
	// DocumentBytes and VariableBytes are the memory that the document and the variables take.
	// RequestBytes is what the connection keeps of the request: its headers and its address.
	DocumentBytes, VariableBytes, RequestBytes int
	// Release must be called at the end.
	Release func()
}

// new returns an operation to open or to execute. gqlgen keeps with it which fields it selects: a
// stream that waits does not.
func (o *Operation) new() *graphql.OperationContext {
	c := o.Context
	return &graphql.OperationContext{
		RawQuery: c.RawQuery, Variables: c.Variables, OperationName: c.OperationName, Doc: c.Doc, Operation: c.Operation,
		Headers: c.Headers, DisableIntrospection: c.DisableIntrospection, RecoverFunc: c.RecoverFunc,
		ResolverMiddleware: c.ResolverMiddleware, RootResolverMiddleware: c.RootResolverMiddleware,
		Stats: c.Stats, // with what is known of the document, to which nothing is added any more
	}
}

// Options configure New. All are required.
type Options struct {
	API       API
	Books     *budget.Books
	Processor *budget.Processor
	Answers   *memorypool.Pool // memory of all large answers
	Limits    limits.Limits
	Now       func() time.Time
	Count     func(change int)            // adds to the number of open subscriptions
	Worked    func(charged time.Duration) // adds to the processor time that was charged
}

// Server executes subscriptions. It may be used concurrently.
type Server struct {
	Options
	places    *places
	shared    sharedAnswers
	executing atomic.Int64 // events
}

// New returns a server without subscriptions.
func New(o Options) *Server {
	return &Server{
		Options: o,
		places:  newPlaces(o.Limits),
		shared:  sharedAnswers{now: o.Now},
	}
}

const (
	// statesApart is the least time between two states. People see no more than twenty a second.
	statesApart = 50 * time.Millisecond
	// retryAfter is the pause after a failure that is temporary, if it does not name another.
	retryAfter = 250 * time.Millisecond
	// maxOpeningWait is the wait for the client's share of the processors from which on it opens no
	// more subscriptions. With less, only the first event waits.
	maxOpeningWait = time.Second
	// maxFailing is the time after which a failure that stays is told to the client.
	maxFailing = 10 * time.Second
)

// MaxRequest is the size of a subscription's query and of its declared variables, in bytes of
// memory. They stay as long as the stream. The largest queries of known clients are much smaller.
const MaxRequest = 64 << 10

var (
	errOnlyStreams = blog.Errorf(blog.BadUserInput, "WebSockets are for subscriptions. Send queries and mutations with POST.")
	errTooLarge    = blog.Errorf(blog.LimitExceeded, "The query and variables of a subscription must have at most %d bytes.", MaxRequest)
	errNoPlace     = &blog.Error{Code: blog.Overloaded, Message: "The server is busy. Subscribe later.", RetryAfter: time.Second}
	errNoMemory    = &blog.Error{Code: blog.Overloaded, Message: "The server is busy with large responses. Request less at a time.", RetryAfter: time.Second}
)

// Message is an answer of a subscription.
type Message struct {
	Body   []byte // a GraphQL response in JSON; it must not be changed. Empty if there is only a cursor
	Cursor string // from which another subscription goes on; empty if it has none
}

// Run executes a subscription until it ends. When the subscription has its place among those of its
// client, Run calls opened, unless that is nil. It calls send with each answer, and reads the next
// event when send has returned. The context of send does not end with ctx. It ends if the client is
// slow and others need the memory of its answer: send must then give up the connection.
//
// Run returns the errors of a subscription that cannot begin: if its document, variables or
// arguments are invalid, the client's budget is used up, or too many are open. Otherwise it
// returns nil at the end of the stream, or the error of ctx or send.
func (s *Server) Run(
	ctx context.Context, params *graphql.RawParams, opened func(), send func(context.Context, Message) error,
) (refused gqlerror.List, err error) {
	x, refused := s.open(ctx, params)
	if len(refused) > 0 {
		return refused, nil
	}
	defer x.close()
	if opened != nil {
		opened()
	}
	for err == nil && !x.ended {
		a, cursor, failure := x.try(ctx)
		if failure != nil {
			a, err = x.fail(ctx, failure)
		}
		if a != nil {
			err = a.send(ctx, cursor, send)
		}
	}
	return nil, err
}

// execution is a subscription that is executed.
type execution struct {
	*Server
	operation *Operation
	price     price.Price
	stream    stream.Stream
	holds     []func() // give back what the subscription holds
	account   string
	address   netip.Addr
	payment   *budget.Payment // of what the stream reads
	user      *budget.User    // who pays for the processor time
	work      time.Duration   // of the last execution, which the next one is expected to take

	event   *stream.Event     // that is not answered yet
	last    [sha256.Size]byte // hash of the state that was sent last; equal ones are not sent again
	begun   time.Time         // when it was asked for
	lastAt  time.Time         // of the last answer; zero before the first
	isState bool              // the last answer was a state
	failing time.Time         // since when tries fail; zero if the last one did not
	tried   time.Time         // when the try after a failure began
	ended   bool
}

// open begins a subscription, or returns why it cannot begin.
func (s *Server) open(ctx context.Context, params *graphql.RawParams) (*execution, gqlerror.List) {
	refuse := func(err error) (*execution, gqlerror.List) { return nil, gqlerror.List{s.API.Present(ctx, err)} }
	client := request.Of(ctx)
	x := &execution{Server: s, begun: s.Now(), account: client.UserID(), address: client.Address}
	x.user = s.Processor.User(x.account, x.address)
	if wait := x.user.Begin(0); wait > maxOpeningWait {
		return refuse(errShareUsed(wait))
	}
	ctx = graphql.StartOperationTrace(ctx)
	operation, refused := x.createOperation(ctx, params)
	if len(refused) > 0 {
		return nil, refused
	}
	x.operation, x.price = operation, price.Of(operation.Context)
	x.work = executionWork(x.price.Fields, nil, 0)
	x.holds = append(x.holds, operation.Release)
	defer func() {
		if x.stream == nil {
			x.close()
		}
	}()
	if err := x.enter(); err != nil {
		return refuse(err)
	}
	if x.stream, refused = s.API.Open(ctx, operation.new()); len(refused) > 0 {
		return nil, refused
	}
	s.Count(1)
	x.holds = append(x.holds, x.stream.Close, func() { s.Count(-1) })
	return x, nil
}

// createOperation returns the operation of a request, and charges for reading its document. That
// takes a place among the operations in flight, as for a query.
func (x *execution) createOperation(ctx context.Context, params *graphql.RawParams) (*Operation, gqlerror.List) {
	refuse := func(err error) (*Operation, gqlerror.List) { return nil, gqlerror.List{x.API.Present(ctx, err)} }
	if len(params.Query)+len(params.OperationName) > MaxRequest {
		return refuse(errTooLarge)
	}
	leave, ok := x.API.TakePlace()
	if !ok {
		return refuse(errNoPlace)
	}
	defer leave()
	operation, work, refused := x.API.CreateOperation(ctx, params)
	x.charge(work, 0)
	if len(refused) > 0 {
		return nil, refused
	}
	var err error
	switch c := operation.Context; {
	case c.Operation.Operation != ast.Subscription:
		err = errOnlyStreams
	case len(c.RawQuery)+len(c.OperationName)+operation.VariableBytes > MaxRequest:
		err = errTooLarge
	}
	if err != nil {
		operation.Release()
		return refuse(err)
	}
	return operation, nil
}

// enter begins to pay, and takes the subscription's place, both until x.close is called.
func (x *execution) enter() (err error) {
	if x.payment, err = x.Books.Begin(x.account, x.address, false, 0); err != nil {
		return err
	}
	x.holds = append(x.holds, func() { x.payment.End("(streams)", budget.Spending{}) })
	leave, err := x.places.enter(x.address, x.account, x.operation)
	if err == nil {
		x.holds = append(x.holds, leave)
	}
	return err
}

// errShareUsed is the error of a client whose streams have used up its share of the processors.
func errShareUsed(wait time.Duration) error {
	return &blog.Error{Code: blog.BudgetExceeded, RetryAfter: wait, Message: "The subscriptions of this client have used up its share of the processors. " +
		"Close some, or select less, and retry in " + wait.Round(time.Second/10).String() + "."}
}

// close gives back what the subscription holds.
func (x *execution) close() {
	for _, giveBack := range slices.Backward(x.holds) {
		giveBack()
	}
}

// fail waits after an error of try if another try may succeed. Otherwise it ends the stream, with
// an answer unless the error is io.EOF. Error: ctx's.
func (x *execution) fail(ctx context.Context, err error) (*answer, error) {
	if errors.Is(err, io.EOF) {
		x.ended = true
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	now := x.Now()
	if x.failing.IsZero() || now.Sub(x.tried) > 2*maxFailing { // a try that has waited long for an event
		x.failing = now
	}
	if wait := waitOf(err); wait > 0 && now.Sub(x.failing) < maxFailing {
		err := sleep(ctx, max(retryAfter, wait))
		x.tried = x.Now()
		return nil, err
	}
	x.ended = true
	shown, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		shown = x.API.Present(ctx, err)
	}
	return newAnswer(x.API.Encode(ctx, nil, &graphql.Response{Errors: gqlerror.List{shown}})), nil
}

// try waits for the next event and answers it. It returns nil if the answer is the state that was
// sent last, or if it has waited because the client's budget or its share of the processors is used
// up, or no place is free: a newer state may then have replaced the event. After an error, the next
// try answers the same event.
func (x *execution) try(ctx context.Context) (*answer, string, error) {
	if x.event == nil {
		if err := x.read(ctx); err != nil {
			return nil, "", err
		}
	}
	event := *x.event
	if event.IsBeginning {
		x.event, x.failing = nil, time.Time{}
		return &answer{}, event.Cursor, nil
	}
	a, wait, err := x.share(ctx, event)
	if a == nil && err == nil {
		if err = sleep(ctx, wait); err == nil && wait > 0 {
			x.renew(ctx)
		}
	}
	if a == nil {
		return nil, "", err
	}
	x.event, x.ended, x.isState, x.lastAt, x.failing = nil, event.IsLast, event.IsState, x.Now(), time.Time{}
	if event.IsState && !event.IsLast && a.hash == x.last {
		a.close()
		return nil, "", nil
	}
	x.last = a.hash
	x.charge(bytesWork(len(a.body)), 0)
	return a, event.Cursor, nil
}

// charge charges the client for work that was done, less what it has paid already.
func (x *execution) charge(work, paid time.Duration) {
	x.user.Add(work - paid)
	x.Worked(work)
}

// read waits for the next event. It reads nothing until the time of the next state has come, and
// the client's share of the processors permits it, so that a state is the newest.
func (x *execution) read(ctx context.Context) error {
	if x.isState {
		if err := sleep(ctx, statesApart-x.Now().Sub(x.lastAt)); err != nil {
			return err
		}
	}
	for wait := x.user.Begin(0); wait > 0; wait = x.user.Begin(0) {
		if err := sleep(ctx, max(retryAfter, wait)); err != nil {
			return err
		}
	}
	return x.take(ctx)
}

// take takes the next event from the stream.
func (x *execution) take(ctx context.Context) error {
	event, err := x.stream.Next(ctx)
	x.payment.Add("(streams)", event.Spent)
	x.charge(eventTime, 0)
	if err == nil {
		x.event = &event
	}
	return err
}

// renew replaces a state that has waited by a newer one, if there is one. It reads nothing as long
// as the client's budget, or its share of the processors, is used up: the reads would add to that.
func (x *execution) renew(ctx context.Context) {
	if !x.event.IsState || x.event.IsLast || x.user.Begin(0) > 0 {
		return
	}
	payment, err := x.Books.Begin(x.account, x.address, false, 0)
	if err != nil {
		return
	}
	payment.End("(streams)", budget.Spending{})
	ended, end := context.WithCancel(ctx)
	end()
	_ = x.take(ended) // fails if there is none
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
