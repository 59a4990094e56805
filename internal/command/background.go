package command

import (
	"context"
	"errors"
	"fmt"
)

// Start runs a task beside the caller. The context that it gives ends with ctx, and also when the task ends by itself,
// with what it said as the cause. stop ends the task, waits until it has given everything back, and gives its error.
// The task outlives ctx until stop is called, so that what depends on it can end before it does.
func Start(ctx context.Context, name string, task func(context.Context) error) (beside context.Context, stop func() error) {
	beside, ended := context.WithCancelCause(ctx)
	taskContext, cancel := context.WithCancel(context.WithoutCancel(ctx))
	result := make(chan error, 1)
	go func() {
		err := task(taskContext)
		if taskContext.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // it was told to
		}
		if err != nil {
			err = fmt.Errorf("the %s stopped: %w", name, err)
		}
		result <- err
		ended(err)
	}()
	return beside, func() error {
		cancel()
		err := <-result
		ended(nil)
		return err
	}
}
