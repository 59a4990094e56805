package subscription

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/budget"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/internal/limits"
	"cosmosblog/internal/memorypool"
	"cosmosblog/internal/stream"
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

// answer returns the answer to an event: its own, or that of an equal subscription. While the
// client's budget is used up, or the server is busy, it waits. Errors: OVERLOADED if there is no
// memory for a large answer, and ctx's.
func (x *execution) answer(ctx context.Context, event stream.Event) (*answer, error) {
	for {
		a, wait, err := x.share(ctx, event)
		if a != nil || err != nil {
			return a, err
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// share returns the answer of an equal subscription to an event. If there is none, it executes the
// selection, and lets the others have the answer. It returns a time instead of an answer if the
// selection cannot be executed before that.
func (x *execution) share(ctx context.Context, event stream.Event) (*answer, time.Duration, error) {
	if x.key == "" || event.ID == "" {
		return x.execute(ctx, event)
	}
	shared, isFirst := x.shared.enter(answerKey{x.key, event.ID})
	if isFirst {
		defer x.shared.leave(shared) // has an effect only if execute panics
		a, wait, err := x.execute(ctx, event)
		switch {
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
	case shared.answer != nil:
		return shared.answer, 0, nil
	case shared.isAbandoned: // because of its client's budget, say: this one may do better
		return nil, 0, nil
	}
	return x.execute(ctx, event)
}

// execute executes the selection for an event, as an operation of its own. It goes on if the client
// disconnects, because others may wait for the answer. It returns a time instead of an answer if
// the client's budget is used up for that time, or no place is free. Errors: OVERLOADED if there is
// no memory for a large answer.
func (x *execution) execute(ctx context.Context, event stream.Event) (*answer, time.Duration, error) {
	payment, err := x.Books.Begin(x.account, x.address, false, x.price)
	if err != nil {
		return nil, max(retryAfter, blog.RetryAfterOf(err)), nil
	}
	defer payment.End("(not executed)", budget.Spending{})
	leave, ok := x.API.TakePlace()
	if !ok {
		return nil, retryAfter, nil
	}
	defer leave()
	memory := x.Answers.Hold()
	ctx, cancel := lifecycle.Detached(limits.WithMemory(graphql.StartOperationTrace(budget.With(ctx, payment)), memory), x.Limits.Time)
	defer cancel()
	operation, executed := x.dispatch(stream.WithEvent(ctx, event))
	if event.HasGap {
		if executed.Extensions == nil {
			executed.Extensions = map[string]any{}
		}
		executed.Extensions["gap"] = true
	}
	isOwn := len(executed.Errors) > 0 || len(executed.Extensions) > 0
	if len(executed.Data) <= memorypool.Small {
		memory.Close()
		memory = nil
	} else if memory.IsOverfull() || !memory.ResizeForData(len(executed.Data)) {
		memory.Close()
		return nil, 0, errNoMemory
	}
	a := newAnswer(x.API.Encode(ctx, operation, executed), memory)
	a.isOwn = isOwn
	if memory != nil {
		memory.Resize(cap(a.body)) // less than for the data
	}
	return a, 0, nil
}

// dispatch executes the operation in the context of an event.
func (x *execution) dispatch(ctx context.Context) (*graphql.OperationContext, *graphql.Response) {
	params := x.params
	operation, _, errs := x.API.CreateOperation(ctx, &params)
	if len(errs) > 0 {
		return operation, x.Executor.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
	}
	responses, dispatched := x.Executor.DispatchOperation(ctx, operation)
	if executed := responses(dispatched); executed != nil {
		return operation, executed
	}
	return operation, &graphql.Response{Errors: gqlerror.List{x.API.Present(ctx, errTimeout)}}
}
