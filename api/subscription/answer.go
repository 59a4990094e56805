package subscription

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/graph/stream"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/memorypool"
	"cosmosblog/guard/request"
)

// answer is the answer to an event.
type answer struct {
	body   []byte
	hash   [sha256.Size]byte // of the body
	memory *memorypool.Share // that a large body holds; nil for others
	isOwn  bool              // it has errors, or describes one execution: only its own client may get it
}

func newAnswer(body []byte) *answer { return &answer{body: body, hash: sha256.Sum256(body)} }

// canBeShared reports whether equal subscriptions may have the answer.
func (a *answer) canBeShared() bool { return a != nil && !a.isOwn && a.memory == nil }

// close gives the memory back.
func (a *answer) close() {
	if a.memory != nil {
		a.memory.Close()
	}
}

// send sends the answer and closes it. If others need the memory of a large answer, the context of
// send ends.
func (a *answer) send(ctx context.Context, cursor string, send func(context.Context, Message) error) error {
	defer a.close()
	sending := context.WithoutCancel(ctx)
	if a.memory != nil {
		stoppable, stop := context.WithCancel(sending)
		defer stop()
		a.memory.Transfer(stop)
		sending = stoppable
	}
	return send(sending, Message{a.body, cursor})
}

// share returns the answer of an equal subscription to an event. If there is none, it executes the
// selection, and lets the others have the answer. It returns a time instead of an answer if the
// selection cannot be executed before that. Errors: those of execute, and ctx's.
func (x *execution) share(ctx context.Context, event stream.Event) (*answer, time.Duration, error) {
	if x.operation.Key == "" || event.ID == "" {
		return x.execute(ctx, event)
	}
	if wait := x.user.Begin(0); wait > 0 { // it would only wake the others to abandon the answer
		return nil, max(retryAfter, wait), nil
	}
	after := time.Time{}
	if x.lastAt.IsZero() { // a stream begins with a state that is not older than its request
		after = x.begun
	}
	shared, isFirst := x.shared.enter(answerKey{x.operation.Key, event.ID, event.HasGap}, after)
	if isFirst {
		defer x.shared.end(shared)
		a, wait, err := x.execute(ctx, event)
		shared.answer, shared.err = a, err
		return a, wait, err
	}
	select {
	case <-shared.done:
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	if shared.answer == nil || shared.answer.canBeShared() {
		return shared.answer, 0, shared.err
	}
	return x.execute(ctx, event)
}

// execute executes the selection for an event, as an operation of its own. It goes on if the client
// disconnects, because others may wait for the answer. It returns a time instead of an answer if
// the client's budget is used up for that time, or no place is free. Errors: those of the answer
// that are gone at another try, such as THROTTLED, and OVERLOADED if there is no memory for a large
// answer.
func (x *execution) execute(ctx context.Context, event stream.Event) (*answer, time.Duration, error) {
	expected, work := x.work, time.Duration(0)
	if wait := x.user.Begin(expected); wait > 0 {
		return nil, max(retryAfter, wait), nil
	}
	defer func() { x.charge(work, expected) }()
	payment, err := x.Books.Begin(x.account, x.address, false, x.price.RU)
	if err != nil {
		return nil, max(retryAfter, blog.RetryAfterOf(err)), nil
	}
	defer payment.End("(not executed)", budget.Spending{})
	leave, ok := x.takePlace()
	if !ok {
		return nil, retryAfter, nil
	}
	defer leave()
	memory := x.Answers.Hold()
	defer func() {
		if memory != nil {
			memory.Close()
		}
	}()
	ctx, cancel := httpserver.Detached(x.stream.Follow(ctx), x.Limits.Time)
	defer cancel()
	ctx = request.With(ctx, func(q *request.Request) { q.Memory, q.Payment = memory, payment })
	operation := x.operation.new()
	executed := x.API.Execute(ctx, operation, event.Value)
	work = executionWork(x.price.Fields, executed.Data, memory.HasRead())
	x.work = work
	if err := temporary(executed.Errors); err != nil {
		if err.Extensions["code"] == blog.BudgetExceeded {
			return nil, max(retryAfter, waitOf(err)), nil
		}
		return nil, 0, err
	}
	isOwn := len(executed.Errors) > 0 || len(executed.Extensions) > 0
	if event.HasGap {
		executed.Extensions["gap"] = true
	}
	isLarge := len(executed.Data) > memorypool.Small
	if isLarge && (memory.IsOverfull() || !memory.ResizeForData(len(executed.Data))) {
		return nil, 0, errNoMemory
	}
	a := newAnswer(x.API.Encode(ctx, operation, executed))
	a.isOwn = isOwn
	if isLarge {
		memory.Resize(cap(a.body)) // less than for the data
		a.memory, memory = memory, nil
	}
	return a, 0, nil
}

// takePlace takes a place among the operations in flight for an event. Events have at most half of
// the places, so that requests find one while something happens to many streams. It returns false
// if none is free.
func (s *Server) takePlace() (leave func(), ok bool) {
	if s.executing.Add(1) > max(1, int64(s.Limits.InFlight/2)) {
		s.executing.Add(-1)
		return nil, false
	}
	place, ok := s.API.TakePlace()
	if !ok {
		s.executing.Add(-1)
		return nil, false
	}
	return func() { place(); s.executing.Add(-1) }, true
}

// waitOf returns the time to wait before another try after an error, or 0 if there should be none.
func waitOf(err error) time.Duration {
	if shown, ok := errors.AsType[*gqlerror.Error](err); ok {
		millis, _ := shown.Extensions["retryAfterMs"].(int64)
		return time.Duration(millis) * time.Millisecond
	}
	return blog.RetryAfterOf(err)
}

// temporary returns the error of an answer that may be gone at another try, with the longest wait;
// nil if there is none.
func temporary(errs gqlerror.List) (longest *gqlerror.Error) {
	for _, err := range errs {
		if wait := waitOf(err); wait > 0 && (longest == nil || wait > waitOf(longest)) {
			longest = err
		}
	}
	return longest
}
