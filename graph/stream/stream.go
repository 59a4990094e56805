// Package stream connects the resolvers of subscriptions, which find out what happens, with package
// subscription, which executes a subscription's selection for each event and sends the answer.
//
// gqlgen calls the resolver of a subscription once. Here, it opens a Stream, and no channel. The
// value of an event passes no resolver: its selection is executed on it (graph.ExecuteEvent). So
// each event is an operation of its own, with a scope, a deadline and a charge, and a stream that
// waits holds nothing of it.
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
	// Follow prepares the context of an event's operation: its reads are not older than the event.
	Follow(ctx context.Context) context.Context
	// Next waits for the next event. io.EOF ends the stream. After another error, it can be called
	// again, and repeats the event that failed; after ctx's, only streams of states can. If ctx has
	// ended, these return a newer state that is there, or ctx's error.
	Next(ctx context.Context) (Event, error)
	// Close releases what the stream holds.
	Close()
}

type key struct{}

// Opening returns a context in which the resolver of a subscription opens a stream, and where the
// stream is then. It stays nil if the resolver fails.
func Opening(ctx context.Context) (context.Context, *Stream) {
	opened := new(Stream)
	return context.WithValue(ctx, key{}, opened), opened
}

// Open passes on the stream that a resolver opens in a context of Opening.
func Open(ctx context.Context, s Stream) { *ctx.Value(key{}).(*Stream) = s }
