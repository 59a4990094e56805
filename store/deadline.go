package store

import (
	"context"
	"time"
)

// CommandDeadline is the timeout of a command that copies a username to an item. These are
// CreatePost, CreateComment and LikePost, whose caller has just read the user, and
// bulk.WriteThread. The service may execute the last request for 5 s more, which is its limit for
// an execution. Therefore, no command writes a former username later than 15 s after a rename.
const CommandDeadline = 10 * time.Second

// WithCommandDeadline returns a context that is done after CommandDeadline.
func WithCommandDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, CommandDeadline)
}
