package store

import (
	"context"
	"time"
)

// CommandDeadline is the timeout of a command that copies a username to an item: CreatePost,
// CreateComment and LikePost, whose caller has just read the user, and bulk.WriteThread. The
// last request may be executed up to 5 s later, which is the service's limit for an execution.
// Therefore, no command writes the former username later than 15 s after a rename.
const CommandDeadline = 10 * time.Second

// WithCommandDeadline returns a context that is done after CommandDeadline.
func WithCommandDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, CommandDeadline)
}
