package cosmos

import "context"

// call is what the requests of a context share. It is the only value that this package keeps in
// contexts: the functions that return a context change a copy, and the policies read it. So no
// context may take it from elsewhere: it would lose all that ctx has.
type call struct {
	session    *session     // nil if each request is on its own (WithSession)
	meter      *Meter       // nil if there is none (WithMeter)
	recorder   Recorder     // nil if there is none (WithRecorder)
	fence      func() error // nil if there is none (WithFence)
	background bool         // InBackground
	onlyOnce   bool         // conflictPolicy does not retry (withoutConflicts)
	answers    *answers     // of one read or query; nil otherwise (withAnswers)
}

type callKey struct{}

// callOf returns the call of a context, which is zero if it has none.
func callOf(ctx context.Context) call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return *c
	}
	return call{}
}

// withCall returns a context with a changed copy of its call.
func withCall(ctx context.Context, change func(*call)) context.Context {
	c := callOf(ctx)
	change(&c)
	return context.WithValue(ctx, callKey{}, &c)
}
