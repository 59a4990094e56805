package resolvers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/guard/price"
	"cosmosblog/store/cosmos"
)

// ErrorPresenter turns errors into the errors of a response. It may be used concurrently.
type ErrorPresenter struct {
	logger *slog.Logger
}

// NewErrorPresenter returns a presenter that logs the causes of errors. If the logger is nil, it
// uses slog's default logger.
func NewErrorPresenter(logger *slog.Logger) *ErrorPresenter {
	if logger == nil {
		logger = slog.Default()
	}
	return &ErrorPresenter{logger}
}

// Present returns the error that clients see instead of err. It always has a code:
//   - A *blog.Error keeps its code and message, unless it is INTERNAL without a RetryAfter. If a
//     mutation is UNAVAILABLE, the extension mayHaveExecuted says whether it may have been
//     executed.
//   - An error of gqlgen or gqlparser about the request gets a code by its kind.
//   - An error because of a deadline becomes TIMEOUT, with an id.
//   - Any other error becomes INTERNAL with an id. The log has the cause under that id.
//
// For blog.FieldErrors, Present adds all but the last to the response, and returns the last.
//
// Present returns nil if the operation has already failed maxErrors times.
func (p *ErrorPresenter) Present(ctx context.Context, err error) *gqlerror.Error {
	if several, ok := errors.AsType[blog.FieldErrors](err); ok {
		for _, one := range several[:len(several)-1] {
			graphql.AddError(ctx, one)
		}
		err = several[len(several)-1]
	}
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok && s.errors.Add(1) > maxErrors {
		return nil
	}
	shown := locate(ctx, err)
	known, isKnown := errors.AsType[*blog.Error](err)
	switch invalid := requestError(err); {
	case isKnown && (known.Code != blog.Internal || known.RetryAfter > 0):
		describe(shown, known)
		if path := fieldPath(ctx, shown, err, known); len(path) > 0 {
			shown.Extensions["field"] = path
		}
		if limit, ok := errors.AsType[*price.LimitError](err); ok {
			maps.Copy(shown.Extensions, limit.Extensions())
		}
		switch {
		case known.Code == blog.Internal:
			shown.Extensions["errorId"] = p.logInternal(ctx, err)
		case known.Code == blog.Unavailable && isMutation(ctx):
			shown.Extensions["mayHaveExecuted"] = cosmos.MayHaveWritten(ctx)
			fallthrough
		default:
			p.logCause(ctx, known)
		}
	case invalid != nil && !isKnown:
		describe(shown, describeRequestError(invalid))
		if path := invalid.Extensions["field"]; path != nil { // of a value in the query
			shown.Extensions["field"] = path
		}
	case errors.Is(err, context.DeadlineExceeded):
		describe(shown, errTimeout)
		shown.Extensions["errorId"] = p.logInternal(ctx, err)
	default:
		describe(shown, errInternal)
		shown.Extensions["errorId"] = p.logInternal(ctx, err)
	}
	return shown
}

// Recover turns a panic into an error. Its stack appears only in the log.
func (p *ErrorPresenter) Recover(_ context.Context, recovered any) error {
	return newPanicError(recovered)
}

// locate returns an error without a message. It has the path of the context's field and the
// location in the query.
func locate(ctx context.Context, err error) *gqlerror.Error {
	shown := &gqlerror.Error{}
	if located, ok := errors.AsType[*gqlerror.Error](err); ok {
		shown.Locations = located.Locations
	}
	if field := graphql.GetFieldContext(ctx); field != nil {
		// gqlgen's own path may end with an argument, which is not a part of the response.
		shown.Path = field.Path()
	}
	if field := fieldFrom(ctx); field != nil && shown.Locations == nil && field.Field.Position != nil {
		shown.Locations = locations(field.Field.Position)
	}
	return shown
}

func locations(position *ast.Position) []gqlerror.Location {
	return []gqlerror.Location{{Line: position.Line, Column: position.Column}}
}

// fieldFrom returns the field of a context, or nil if there is none. For an element of a list, it
// returns the list's field.
func fieldFrom(ctx context.Context) *graphql.FieldContext {
	field := graphql.GetFieldContext(ctx)
	for field != nil && field.Field.Field == nil {
		field = field.Parent
	}
	return field
}

// fieldName returns the schema's name of the context's field for the log. It does not log the
// response's path, because clients choose the names in it.
func fieldName(ctx context.Context) slog.Attr {
	name := ""
	if field := fieldFrom(ctx); field != nil {
		name = field.Object + "." + field.Field.Name
	}
	return slog.String("field", name)
}

// describe sets the message and the extensions of an error from the domain's error.
func describe(shown *gqlerror.Error, known *blog.Error) {
	shown.Message = known.Message
	shown.Extensions = map[string]any{"code": known.Code}
	if known.Code == blog.Throttled || known.RetryAfter > 0 {
		shown.Extensions["retryAfterMs"] = max(1, int64(known.RetryAfter/time.Millisecond))
	}
}

// fieldPath returns the path of the invalid argument or input field that an error names. Commands
// name a field of their mutation's input. gqlgen appends the names of arguments to the path of the
// response.
func fieldPath(ctx context.Context, shown *gqlerror.Error, err error, known *blog.Error) []any {
	field := fieldFrom(ctx)
	if len(known.Field) > 0 {
		if field != nil && field.Object == "Mutation" {
			return append([]any{"input"}, known.Field...)
		}
		return known.Field
	}
	var path []any
	located, ok := errors.AsType[*gqlerror.Error](err)
	if !ok || field == nil || known.Code != blog.BadUserInput || len(located.Path) <= len(shown.Path) {
		return nil
	}
	for _, step := range located.Path[len(shown.Path):] {
		path = append(path, step)
	}
	return path
}

// logCause logs an error's cause, which clients do not see, for example the database's own
// message or the defect of a token.
func (p *ErrorPresenter) logCause(ctx context.Context, known *blog.Error) {
	level := slog.LevelDebug
	if known.Code == blog.Unavailable {
		level = slog.LevelWarn
	}
	if known.Err != nil {
		p.logger.LogAttrs(ctx, level, "a request was rejected",
			slog.String("code", string(known.Code)), fieldName(ctx), slog.Any("cause", known.Err))
	}
}

var (
	errInternal = blog.Errorf(blog.Internal,
		"An internal error occurred. If it happens again, report it with the `errorId` in this error's extensions.")
	errTimeout = &blog.Error{Code: blog.Timeout, RetryAfter: time.Second,
		Message: "The operation ran out of time. Retry, or request less at a time. A mutation may have been executed."}
)

// logInternal logs an error's cause, which clients do not see, and returns the id of the
// log's entry. All fields of a cancelled operation have the same id and share one line in the log.
func (p *ErrorPresenter) logInternal(ctx context.Context, err error) (id string) {
	id = rand.Text()
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok && isCancelled(err) {
		isLogged := true
		s.cancelled.Do(func() { s.cancelledID, isLogged = id, false })
		if id = s.cancelledID; isLogged {
			return id
		}
	}
	if located, ok := errors.AsType[*gqlerror.Error](err); ok && located.Err != nil {
		err = located.Err // without its location, which fieldName logs
	}
	level := slog.LevelError
	if errors.Is(err, context.Canceled) {
		level = slog.LevelInfo // the client disconnected
	}
	attributes := []slog.Attr{slog.String("errorId", id), fieldName(ctx), slog.Any("cause", err)}
	if p, ok := errors.AsType[*panicError](err); ok {
		attributes = append(attributes, slog.String("stack", string(p.stack)))
	}
	p.logger.LogAttrs(ctx, level, "a request failed", attributes...)
	return id
}

// isCancelled reports whether an error means that the operation timed out or its client
// disconnected.
func isCancelled(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// panicError is a recovered panic.
type panicError struct {
	value any
	stack []byte
}

func newPanicError(recovered any) *panicError {
	return &panicError{value: recovered, stack: debug.Stack()}
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recoverInto must be deferred. It turns a panic into *err, in goroutines that gqlgen did not
// start.
func recoverInto(err *error) {
	if recovered := recover(); recovered != nil {
		*err = newPanicError(recovered)
	}
}
