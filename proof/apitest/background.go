package apitest

import (
	"context"
	"testing"
)

// Background runs a part of a process, such as a projector, until the returned function is called,
// which waits until it has ended. The test fails if the part ends before with an error.
func Background(t testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}()
	return func() { cancel(); <-ended }
}
