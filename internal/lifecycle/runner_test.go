package lifecycle

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestClosingAPartIsNotAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Run(ctx, func(r *Runner) error {
		r.Go("task", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		cancel()
		<-r.Context().Done() // the task itself runs until it is closed
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFailedPartEndsTheProcess(t *testing.T) {
	broken := errors.New("broken")
	err := Run(t.Context(), func(r *Runner) error {
		r.Go("task", func(context.Context) error { return broken })
		<-r.Context().Done()
		if cause := context.Cause(r.Context()); !errors.Is(cause, broken) {
			t.Errorf("the cause is %v", cause)
		}
		return nil
	})
	if !errors.Is(err, broken) || err.Error() != "the task stopped: broken" {
		t.Errorf("got %v", err)
	}
}

func TestPartsThatFailWhileClosing(t *testing.T) {
	broken := errors.New("broken")
	err := Run(t.Context(), func(r *Runner) error {
		r.Go("task", func(ctx context.Context) error { <-ctx.Done(); return broken })
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestFailEndsTheProcess(t *testing.T) {
	broken := errors.New("broken")
	err := Run(t.Context(), func(r *Runner) error {
		r.Fail(broken)
		r.Fail(errors.New("later"))
		<-r.Context().Done()
		return context.Cause(r.Context())
	})
	if err != broken {
		t.Errorf("got %v", err)
	}
}

func TestPartsCloseInReverseOrder(t *testing.T) {
	var closed []string
	first, second, third := errors.New("first"), errors.New("second"), errors.New("third")
	err := Run(t.Context(), func(r *Runner) error {
		r.OnClose(func() error { closed = append(closed, "first"); return first })
		r.Go("second", func(ctx context.Context) error { <-ctx.Done(); closed = append(closed, "second"); return second })
		r.OnClose(func() error { closed = append(closed, "third"); return third })
		return third
	})
	if !slices.Equal(closed, []string{"third", "second", "first"}) {
		t.Errorf("closed in the order %v", closed)
	}
	if err == nil || err.Error() != "third\nthe second stopped: second\nfirst" {
		t.Errorf("got %q", err)
	}
}
