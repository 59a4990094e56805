package api

import (
	"context"
	"time"
)

// arrival is how a request has arrived. Only this package needs it: request.Request has what others
// need, too.
type arrival struct {
	isOverflow  bool      // on a connection beyond the limits
	endProgress func()    // ends its count as a request in progress; nil if it does not count (admit)
	expires     time.Time // of the token in the header of a WebSocket; zero if never
}

type arrivalKey struct{}

// arrivalOf returns the arrival of the request of a context.
func arrivalOf(ctx context.Context) arrival {
	a, _ := ctx.Value(arrivalKey{}).(arrival)
	return a
}

// withArrival returns a context with a changed arrival.
func withArrival(ctx context.Context, change func(*arrival)) context.Context {
	a := arrivalOf(ctx)
	change(&a)
	return context.WithValue(ctx, arrivalKey{}, a)
}
