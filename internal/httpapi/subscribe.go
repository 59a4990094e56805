package httpapi

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/budget"
	"cosmosblog/internal/limits"
	"cosmosblog/internal/price"
	"cosmosblog/internal/stream"
)

// subscription is a subscription that is executed. Each event of its stream is executed as an
// operation of its own, when the client has received the one before.
type subscription struct {
	transport
	ctx    context.Context // of the client
	params *graphql.RawParams
	price  float64
	stream stream.Stream
	leave  func() // gives the places among all subscriptions back

	contentType string
	last        []byte // the last state that was sent; equal ones are not sent again
	lastAt      time.Time
	ended       bool
}

const (
	// statesApart is the least time between two states. People see no more than twenty a second.
	statesApart = 50 * time.Millisecond
	// streamRetry is the pause after a failure that is temporary, if it does not name another.
	streamRetry = 250 * time.Millisecond
	// maxStreamWait is the time after which a failure that stays is told to the client.
	maxStreamWait = 10 * time.Second
)

// isSubscription reports whether the operation of a request is a valid subscription.
func (t transport) isSubscription(params *graphql.RawParams) bool {
	if !strings.Contains(params.Query, "subscription") { // as in nearly all requests
		return false
	}
	known, errs := t.documents.read(params.Query, params.OperationName)
	return len(errs) == 0 && isStream(known)
}

func isStream(known *knownDocument) bool {
	return known.operation != nil && known.operation.Operation == ast.Subscription
}

// subscribe begins a subscription in the context of its client. after replaces the argument `after`
// if it is not empty. It returns the errors if the document, its variables or its arguments are
// invalid, or if there are too many subscriptions. The caller must close the subscription.
func (t transport) subscribe(ctx context.Context, params *graphql.RawParams, after string) (*subscription, gqlerror.List) {
	ctx = graphql.StartOperationTrace(ctx)
	_, operation, errs := t.createOperation(ctx, params)
	if len(errs) > 0 {
		return nil, t.exec.DispatchError(graphql.WithOperationContext(ctx, operation), errs).Errors
	}
	if operation.Operation.Operation != ast.Subscription {
		return nil, gqlerror.List{t.present(ctx, errOnlyStreams)}
	}
	leave, ok := t.streams.Enter(ClientAddr(ctx), userIDOf(ctx))
	if !ok {
		return nil, gqlerror.List{t.present(ctx, errTooManyStreams)}
	}
	endProgress(ctx)
	opened, opening := stream.Open(ctx, after)
	responses, dispatched := t.exec.DispatchOperation(opened, operation)
	if opening.Stream == nil {
		leave()
		response := responses(dispatched)
		if response == nil || len(response.Errors) == 0 {
			return nil, gqlerror.List{t.present(ctx, errNoStream)}
		}
		return nil, response.Errors
	}
	return &subscription{transport: t, ctx: ctx, params: params, price: price.Of(operation), stream: opening.Stream, leave: leave}, nil
}

var (
	errTooManyStreams = blog.Errorf(blog.LimitExceeded, "Too many subscriptions are open, in all, from your network, or of your account. Close some.")
	errNoStream       = blog.Errorf(blog.BadUserInput, "A subscription must select one field of `Subscription`, and not `__typename`.")
)

// message is an answer of a subscription.
type message struct {
	body   []byte // a GraphQL response
	cursor string // empty if the stream has none
}

// next returns the next answer, after it has waited for it. Error: io.EOF at the end, and ctx's.
func (s *subscription) next(ctx context.Context) (message, error) {
	if s.ended {
		return message{}, io.EOF
	}
	failing := time.Time{}
	for {
		event, err := s.stream.Next(ctx)
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return message{}, err
		case blog.RetryAfterOf(err) > 0 && (failing.IsZero() || s.Now().Sub(failing) < maxStreamWait):
			if failing.IsZero() {
				failing = s.Now()
			}
			if err := sleep(ctx, max(streamRetry, blog.RetryAfterOf(err))); err != nil {
				return message{}, err
			}
			continue
		default:
			s.ended = true
			errs := gqlerror.List{s.present(ctx, err)}
			return message{body: s.encode(s.contentType, executedStatus, response{errors: errs}).body}, nil
		}
		if event.IsState {
			if err := sleep(ctx, statesApart-s.Now().Sub(s.lastAt)); err != nil {
				return message{}, err
			}
		}
		body, err := s.answer(ctx, event)
		if err != nil {
			return message{}, err
		}
		s.ended, s.lastAt = event.IsLast, s.Now()
		if event.IsState && !event.IsLast && string(body) == string(s.last) {
			continue
		}
		s.last = body
		return message{body, event.Cursor}, nil
	}
}

// answer executes the selection for an event. If the client's budget is used up, or the server is
// busy, it waits: meanwhile, further states are skipped. Error: ctx's.
func (s *subscription) answer(ctx context.Context, event stream.Event) ([]byte, error) {
	userID := userIDOf(ctx)
	p := &place{places: s.places}
	for {
		payment, err := s.Books.Begin(userID, ClientAddr(ctx), false, s.price)
		if err == nil && p.take() {
			defer payment.End("(not executed)", budget.Spending{})
			payment.Add("(streams)", event.Spent)
			ctx = budget.With(ctx, payment)
			break
		}
		payment.End("(not executed)", budget.Spending{})
		if err := sleep(ctx, max(streamRetry, blog.RetryAfterOf(err))); err != nil {
			return nil, err
		}
	}
	defer p.leave()
	memory := s.answers.Hold()
	defer memory.Close()
	executing, cancel := context.WithTimeout(limits.WithMemory(graphql.StartOperationTrace(ctx), memory), s.Limits.Time)
	defer cancel()
	return s.executeEvent(stream.WithEvent(executing, event)), ctx.Err()
}

// executeEvent executes the operation in the context of an event.
func (s *subscription) executeEvent(ctx context.Context) []byte {
	_, operation, errs := s.createOperation(ctx, s.params)
	var executed *graphql.Response
	if len(errs) > 0 {
		executed = s.exec.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
	} else {
		responses, dispatched := s.exec.DispatchOperation(ctx, operation)
		executed = responses(dispatched)
	}
	if executed == nil {
		executed = &graphql.Response{Errors: gqlerror.List{s.present(ctx, errExpired.err)}}
	}
	if len(executed.Data) > s.Limits.AnswerBytes {
		s.dropData(ctx, operation, executed)
	}
	return s.encode(s.contentType, executedStatus, executedResponse(executed)).body
}

// close ends the subscription.
func (s *subscription) close() {
	s.stream.Close()
	s.leave()
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
