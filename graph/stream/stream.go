// Package stream connects the resolvers of subscriptions, which find out what happens, with package
// subscription, which executes a subscription's selection for each event and sends the answer.
//
// gqlgen calls the resolver of a subscription to begin it. Here, the resolver then only makes a
// Stream (Opening). For each event of it, package subscription dispatches the operation again, with
// the event in the context; the resolver returns the event's value. So each event is an operation
// of its own, with a scope, a deadline and a charge, and a stream that waits holds nothing of it.
package stream

import "context"

// Event is what a stream sends.
type Event struct {
	// Value is what the subscription's field returns.
	Value any
	// ID names what happened. Equal subscriptions give equal events the same ID, and each event its
	// own, on one server. It is empty if nothing names the event.
	ID string
	// Cursor is the position after the event, from which another stream can go on; empty if the
	// stream begins with the present state.
	Cursor string
	// IsBeginning reports that nothing has happened yet: the event has only the Cursor at which the
	// stream begins, so that its client misses nothing if it is interrupted before the first event.
	IsBeginning bool
	// IsState reports that the event is a state, which replaces those before it.
	IsState bool
	// HasGap reports that some events before this one cannot be had any more.
	HasGap bool
	// Spent is what the stream has spent since the event before, in RU, as budgets count it. It
	// counts if Next returns an error, too.
	Spent float64
	// IsLast reports that the stream ends with the event.
	IsLast bool
}

// Stream yields events. It is used by one goroutine at a time.
type Stream interface {
	// Next waits for the next event. io.EOF ends the stream. After another error, it can be called
	// again, and repeats the event that failed; after ctx's, only streams of states can. If ctx has
	// ended, these return a newer state that is there, or ctx's error.
	Next(ctx context.Context) (Event, error)
	// Close releases what the stream holds.
	Close()
}

// Opening receives the stream that a resolver makes.
type Opening struct {
	Stream Stream // nil if the resolver has failed
	// Follow prepares the contexts of all reads for the stream: those of Next, and those of the
	// operations that are executed for its events.
	Follow func(context.Context) context.Context
	After  string // replaces the argument `after`, unless it is empty
}

type (
	openingKey struct{}
	eventKey   struct{}
)

// Open returns a context in which the resolver of a subscription makes a stream.
func Open(ctx context.Context, after string) (context.Context, *Opening) {
	o := &Opening{After: after}
	return context.WithValue(ctx, openingKey{}, o), o
}

// OpeningOf returns the opening of a context, or nil if it has an event.
func OpeningOf(ctx context.Context) *Opening {
	o, _ := ctx.Value(openingKey{}).(*Opening)
	return o
}

// WithEvent returns a context in which the resolver of a subscription returns an event's value.
func WithEvent(ctx context.Context, e Event) context.Context {
	return context.WithValue(ctx, eventKey{}, e)
}

// EventOf returns the event of a context.
func EventOf(ctx context.Context) (e Event, ok bool) {
	e, ok = ctx.Value(eventKey{}).(Event)
	return e, ok
}
