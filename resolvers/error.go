package resolvers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
)

// PresentError is the one door through which errors reach clients: every error leaves with a code. An Error of the
// domain is told as it is, an INTERNAL one where it says when it will have passed; a fault that gqlgen or gqlparser finds
// in the request is BAD_USER_INPUT; everything else is INTERNAL, with an id under which the log has the cause. Nil where
// the operation has failed in maxErrors places already: the field is null like theirs.
func (r *Resolver) PresentError(ctx context.Context, err error) *gqlerror.Error {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok && s.errors.Add(1) > maxErrors {
		return nil
	}
	shown := placed(ctx, err)
	known, isKnown := errors.AsType[*blog.Error](err)
	switch fault := requestFault(err); {
	case isKnown && (known.Code != blog.Internal || known.RetryAfter > 0):
		tell(shown, known)
		if dear, ok := errors.AsType[*tooDear](err); ok {
			dear.describe(shown)
		}
		r.logCause(ctx, known)
	case fault != nil && !isKnown:
		tell(shown, blog.Errorf(blog.BadUserInput, "%s", sentence(fault)))
	default:
		r.hide(ctx, shown, err)
	}
	return shown
}

// placed gives an empty error at the place of the field, or of the query's text, where err came up.
func placed(ctx context.Context, err error) *gqlerror.Error {
	shown := &gqlerror.Error{}
	if located, ok := errors.AsType[*gqlerror.Error](err); ok {
		shown.Locations = located.Locations
		if shown.Locations == nil {
			shown.Locations = placeOfVariable(ctx, located)
		}
	}
	if at := graphql.GetFieldContext(ctx); at != nil {
		shown.Path = at.Path() // without the argument that gqlgen puts behind it: a path leads into the answer
	}
	if field := fieldOf(ctx); field != nil && shown.Locations == nil && field.Field.Position != nil {
		shown.Locations = placeOf(field.Field.Position)
	}
	return shown
}

// fieldOf gives the field that a context belongs to, by itself or as an element of its list; nil where there is none.
func fieldOf(ctx context.Context) *graphql.FieldContext {
	at := graphql.GetFieldContext(ctx)
	for at != nil && at.Field.Field == nil {
		at = at.Parent
	}
	return at
}

// fieldName names it for the log, as the schema does: the names of an answer's path are the client's.
func fieldName(ctx context.Context) slog.Attr {
	name := ""
	if field := fieldOf(ctx); field != nil {
		name = field.Object + "." + field.Field.Name
	}
	return slog.String("field", name)
}

func tell(shown *gqlerror.Error, known *blog.Error) {
	shown.Message = known.Message
	shown.Extensions = map[string]any{"code": known.Code}
	if known.Code == blog.Throttled || known.RetryAfter > 0 {
		shown.Extensions["retryAfterMs"] = max(1, int64(known.RetryAfter/time.Millisecond))
	}
}

// logCause logs why a known error came about, for whoever looks for it: the database's word for what was throttled, the
// fault of a token.
func (r *Resolver) logCause(ctx context.Context, known *blog.Error) {
	if known.Err != nil {
		r.logger.LogAttrs(ctx, slog.LevelDebug, "a request was refused",
			slog.String("code", string(known.Code)), fieldName(ctx), slog.Any("cause", known.Err))
	}
}

// hide tells nothing but an id, and logs the cause under it. All fields of an operation whose time is over have the same
// id, and one line in the log.
func (r *Resolver) hide(ctx context.Context, shown *gqlerror.Error, err error) {
	id, level, logged := rand.Text(), slog.LevelError, false
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok && isOver(err) {
		logged = true
		s.ended.Do(func() { s.endedID, logged = id, false })
		id = s.endedID
	}
	shown.Message = "Something went wrong on our side. If it happens again, report it with the errorId."
	shown.Extensions = map[string]any{"code": blog.Internal, "errorId": id}
	if logged {
		return
	}
	if located, ok := errors.AsType[*gqlerror.Error](err); ok && located.Err != nil {
		err = located.Err // the place is logged beside it
	}
	if errors.Is(err, context.Canceled) {
		level = slog.LevelInfo // the client went away
	}
	attributes := []slog.Attr{slog.String("errorId", id), fieldName(ctx), slog.Any("cause", err)}
	if p, ok := errors.AsType[*panicError](err); ok {
		attributes = append(attributes, slog.String("stack", string(p.stack)))
	}
	r.logger.LogAttrs(ctx, level, "a request failed", attributes...)
}

// isOver tells whether an error says that the request's time is over, or its client gone.
func isOver(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// Recover makes an error of a panic. Its stack is for the log alone.
func (r *Resolver) Recover(_ context.Context, recovered any) error {
	return &panicError{value: recovered, stack: debug.Stack()}
}

// recoverInto, deferred in a goroutine that gqlgen knows nothing of, makes the goroutine's error of a panic there.
func (r *Resolver) recoverInto(ctx context.Context, err *error) {
	if recovered := recover(); recovered != nil {
		*err = r.Recover(ctx, recovered)
	}
}

type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }
