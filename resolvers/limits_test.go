package resolvers

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

func TestBudgetOfContent(t *testing.T) {
	b := newBudget(limits.Default())
	read := func(bytes int) error {
		return b.read(t.Context(), 10*elementsAtOnce, func() (int, error) { return bytes, nil }) // more than is let in at once
	}
	if err := read(limits.Default().ContentBytes); err != nil {
		t.Fatal(err)
	}
	if err := read(1); blog.CodeOf(err) != blog.CostLimitExceeded {
		t.Errorf("more than the limit: %v", err)
	}
	err := b.read(t.Context(), 1, func() (int, error) {
		t.Error("something is read after the budget is used up")
		return 0, nil
	})
	if blog.CodeOf(err) != blog.CostLimitExceeded {
		t.Error(err)
	}
}

func TestBudgetReadsNothingWhenTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := newBudget(limits.Default()).read(ctx, 1, func() (int, error) {
		t.Error("something is read")
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An operation that fails everywhere does not keep an error for each field.
func TestErrorsOfAnOperationEnd(t *testing.T) {
	r := New(nil, Options{Logger: slog.New(slog.DiscardHandler)})
	b := newBudget(limits.Limits{})
	ctx, spent := withScope(t.Context(), b), b.addContent(1)
	for range maxErrors {
		if r.PresentError(ctx, spent) == nil {
			t.Fatal("an error is lost")
		}
	}
	if shown := r.PresentError(ctx, spent); shown != nil {
		t.Errorf("one more than %d errors: %v", maxErrors, shown)
	}
}

// Lists of an answer whose time is over are not taken for empty ones.
func TestHalfAnAnswerIsNotGiven(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := New(nil, Options{})
	answer := func(errs ...*gqlerror.Error) *graphql.Response {
		return r.InterceptResponse(ctx, func(context.Context) *graphql.Response {
			cancel()
			return &graphql.Response{Data: []byte(`{"feed":{"nodes":[]}}`), Errors: errs}
		})
	}
	if got := answer(); got.Data == nil {
		t.Error("an answer that was ready in time is withheld")
	}
	if got := answer(gqlerror.Errorf("too late")); got.Data != nil {
		t.Errorf("got %s", got.Data)
	}
}

// Why something was refused is in the log for whoever turns it on.
func TestCausesAreLogged(t *testing.T) {
	var log bytes.Buffer
	r := New(nil, Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	r.PresentError(t.Context(), &blog.Error{Code: blog.Throttled, Message: "Wait.", Err: errors.New("the cause")})
	if text := log.String(); !strings.Contains(text, "the cause") || !strings.Contains(text, "THROTTLED") || !strings.Contains(text, "DEBUG") {
		t.Errorf("the log: %s", text)
	}
}
