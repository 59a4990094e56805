package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Runner starts the parts of a process in order and closes them in reverse order. One goroutine
// starts them. Any goroutine may call Context and Fail.
type Runner struct {
	ctx     context.Context
	end     context.CancelCauseFunc
	closers []func() error
}

// Run calls body, which starts parts and does the work, then closes the parts in reverse order.
// It returns the error of body joined with those of the parts, each once.
func Run(ctx context.Context, body func(*Runner) error) (err error) {
	r := &Runner{}
	r.ctx, r.end = context.WithCancelCause(ctx)
	defer func() { err = r.close(err) }()
	return body(r)
}

func (r *Runner) close(err error) error {
	r.end(err)
	for _, closePart := range slices.Backward(r.closers) {
		// body may return the failure of a part, as the cause of its context.
		if failure := closePart(); failure != nil && !errors.Is(err, failure) {
			err = errors.Join(err, failure)
		}
	}
	return err
}

// Context returns the context of the process. It ends when the context of Run ends, when a part
// started by (*Runner).Go returns, and when Fail is called. Its cause is the error of the part or
// of Fail.
func (r *Runner) Context() context.Context { return r.ctx }

// Fail ends the context of the process with a cause. It has no effect if the context has ended.
func (r *Runner) Fail(err error) { r.end(err) }

// OnClose registers a function that closes a part and returns the part's error.
func (r *Runner) OnClose(closePart func() error) { r.closers = append(r.closers, closePart) }

// Go starts a part in its own goroutine. The part's context stays open until the part is closed,
// so that parts started after it can use it until they end. The part's error contains name.
func (r *Runner) Go(name string, part func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	result := make(chan error, 1)
	go func() {
		err := part(ctx)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // the part was closed
		}
		if err != nil {
			err = fmt.Errorf("the %s stopped: %w", name, err)
		}
		result <- err
		r.end(err)
	}()
	r.OnClose(func() error {
		cancel()
		return <-result
	})
}
