package store

import (
	"context"
	"time"
)

// CommandDeadline is how long a command may take that writes its user's name beside something of theirs: CreatePost,
// CreateComment and LikePost, whose caller has read the user just before, and WriteThread. What it sent last may still be done
// then, in the 5 s that the service gives an execution: 15 s after a rename, no command writes the former name any more.
const CommandDeadline = 10 * time.Second

func WithCommandDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, CommandDeadline)
}
