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

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/request"
)

func TestContentLimit(t *testing.T) {
	u := newUsage(t.Context(), limits.Default())
	read := func(bytes int) error {
		// A read with more elements than the limit must still run.
		return u.read(t.Context(), 10*maxPendingElements, func() (int, error) { return bytes, nil })
	}
	if err := read(limits.Default().ContentBytes); err != nil {
		t.Fatal(err)
	}
	if err := read(1); blog.CodeOf(err) != blog.LimitExceeded {
		t.Errorf("above the limit: %v", err)
	}
	err := u.read(t.Context(), 1, func() (int, error) {
		t.Error("the read ran above the limit")
		return 0, nil
	})
	if blog.CodeOf(err) != blog.LimitExceeded {
		t.Error(err)
	}
}

type memory int

func (m *memory) Take(bytes int) bool { *m -= memory(bytes); return *m >= 0 }
func (m *memory) Write(int) bool      { return true }

func TestContentTakesMemory(t *testing.T) {
	free := memory(10)
	u := newUsage(request.With(t.Context(), func(q *request.Request) { q.Memory = &free }), limits.Default())
	read := func(bytes int) error {
		return u.read(t.Context(), 1, func() (int, error) { return bytes, nil })
	}
	if err := read(10); err != nil {
		t.Error(err)
	}
	if err := read(0); err != nil {
		t.Error(err)
	}
	if err := read(1); blog.CodeOf(err) != blog.Overloaded {
		t.Errorf("without room: %v", err)
	}
	u.writes = true
	if err := read(1); blog.CodeOf(err) != blog.LimitExceeded {
		t.Errorf("without room in a mutation: %v", err)
	}
}

func TestCancelledOperationReadsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := newUsage(t.Context(), limits.Default()).read(ctx, 1, func() (int, error) {
		t.Error("the read ran")
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An operation that fails in every field presents maxErrors errors at most.
func TestErrorsPerOperationAreLimited(t *testing.T) {
	p := NewErrorPresenter(slog.New(slog.DiscardHandler))
	u := newUsage(t.Context(), limits.Limits{})
	ctx, err := withScope(t.Context(), u), u.addContent(1)
	for range maxErrors {
		if p.Present(ctx, err) == nil {
			t.Fatal("an error within the limit was dropped")
		}
	}
	if shown := p.Present(ctx, err); shown != nil {
		t.Errorf("after %d errors, got another: %v", maxErrors, shown)
	}
}

// A cancelled operation returns no data, because its unfinished lists look empty.
func TestCancelledOperationReturnsNoData(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	extension := NewScopeExtension(ScopeOptions{})
	respond := func(errs ...*gqlerror.Error) *graphql.Response {
		return extension.InterceptResponse(ctx, func(context.Context) *graphql.Response {
			cancel()
			return &graphql.Response{Data: []byte(`{"feed":{"nodes":[]}}`), Errors: errs}
		})
	}
	if got := respond(); got.Data == nil {
		t.Error("the response without errors has no data")
	}
	if got := respond(gqlerror.Errorf("too late")); got.Data != nil {
		t.Errorf("got %s", got.Data)
	}
}

// The debug log contains the causes of rejected requests.
func TestCausesAreLogged(t *testing.T) {
	var log bytes.Buffer
	p := NewErrorPresenter(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	p.Present(t.Context(), &blog.Error{Code: blog.Throttled, Message: "Wait.", Err: errors.New("the cause")})
	if text := log.String(); !strings.Contains(text, "the cause") || !strings.Contains(text, "THROTTLED") || !strings.Contains(text, "DEBUG") {
		t.Errorf("the log: %s", text)
	}
}
