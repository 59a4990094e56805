package subscription

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

func newAnswer(body []byte, memory *memorypool.Share) *answer {
	return &answer{body: body, hash: sha256.Sum256(body), memory: memory}
}

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

// answer returns the answer to the event: its own, or that of an equal subscription. While the
// client's budget or its share of the processors is used up, or no place is free, it waits; a newer
// state then replaces the event. Errors: those of execute, and ctx's.
func (x *execution) answer(ctx context.Context) (*answer, error) {
	for {
		a, wait, err := x.share(ctx, *x.event)
		if a != nil || err != nil {
			return a, err
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		if wait > 0 {
			x.renew(ctx)
		}
	}
}

// share returns the answer of an equal subscription to an event. If there is none, it executes the
// selection, and lets the others have the answer. It returns a time instead of an answer if the
// selection cannot be executed before that.
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
		defer x.shared.leave(shared) // has an effect only if execute panics
		a, wait, err := x.execute(ctx, event)
		switch {
		case err != nil:
			x.shared.fail(shared, err)
		case a == nil:
			x.shared.abandon(shared)
		case a.isOwn || a.memory != nil:
			x.shared.leave(shared)
		default:
			x.shared.offer(shared, a)
		}
		return a, wait, err
	}
	select {
	case <-shared.done:
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	switch {
	case shared.answer != nil, shared.err != nil:
		return shared.answer, 0, shared.err
	case shared.isAbandoned: // because of its client's budget, say: this one may do better
		return nil, 0, nil
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
		if err.isOfBudget() {
			return nil, max(retryAfter, err.wait), nil
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
	a := newAnswer(x.API.Encode(ctx, operation, executed), nil)
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

// temporaryError is an error in an answer that may be gone at another try.
type temporaryError struct {
	shown *gqlerror.Error // as clients see it
	wait  time.Duration   // until the other try
}

// Error implements error.
func (e *temporaryError) Error() string { return e.shown.Error() }

// waitOf returns the time to wait before another try after an error, or 0 if there should be none.
func waitOf(err error) time.Duration {
	if e, ok := errors.AsType[*temporaryError](err); ok {
		return e.wait
	}
	return blog.RetryAfterOf(err)
}

// temporary returns the temporary error of an answer with the longest wait, or nil.
func temporary(errs gqlerror.List) (longest *temporaryError) {
	for _, err := range errs {
		millis, _ := err.Extensions["retryAfterMs"].(int64)
		if wait := time.Duration(millis) * time.Millisecond; wait > 0 && (longest == nil || wait > longest.wait) {
			longest = &temporaryError{err, wait}
		}
	}
	return longest
}

func (e *temporaryError) isOfBudget() bool {
	return fmt.Sprint(e.shown.Extensions["code"]) == string(blog.BudgetExceeded)
}
