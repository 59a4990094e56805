package store

import (
	"context"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// CommandDeadline is how long after reading a user a command may still write the username and
// revision that it read. The commands are CreatePost, CreateComment, LikePost and UnlikePost, and
// bulk.WriteThread. It ends the command's context. It also stands in the arguments of the stored
// procedures, in the database's time. A request that the network delivers later writes nothing,
// even if nobody waits for it any more.
const CommandDeadline = 10 * time.Second

const (
	// executionTime is the service's limit for one execution. A procedure compares the time when it
	// begins, so it may commit that much later.
	executionTime = 5 * time.Second

	// clockTolerance covers what the deadline cannot: the second by which the clocks of one account
	// may differ, and the time by which the replica that answered the read of the user was behind.
	clockTolerance = 5 * time.Second
)

// SettleTime is the time after a rename, or the deletion of a user, from which no command writes
// the former username any more. The last passes of sweeps and deletions wait for it.
const SettleTime = CommandDeadline + executionTime + clockTolerance

// WithCommandDeadline returns a context that is done after CommandDeadline.
func WithCommandDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, CommandDeadline)
}

// withDeadlineOf returns the deadline of a command for a user, in milliseconds of the database's
// time since 1970, and a context that is done then.
func (s *Store) withDeadlineOf(ctx context.Context, user *blog.User) (context.Context, int64, context.CancelFunc) {
	return s.withDeadlineAfter(ctx, user.ReadAt)
}

// withDeadlineAfter is withDeadlineOf for a command that read a user at a time, or now if that is
// zero.
func (s *Store) withDeadlineAfter(ctx context.Context, readAt time.Time) (context.Context, int64, context.CancelFunc) {
	now := s.db.EarliestNow()
	if readAt.IsZero() {
		readAt = now
	}
	deadline := readAt.Add(CommandDeadline)
	ctx, cancel := context.WithTimeout(ctx, deadline.Sub(now))
	return ctx, deadline.UnixMilli(), cancel
}

// errTooLate is the error of a command whose request arrived after its deadline.
var errTooLate = &blog.Error{
	Code:       blog.Throttled,
	Message:    "The request reached the database too late, so nothing was changed. Try again.",
	RetryAfter: cosmos.DefaultRetryAfter,
}

// errPerhapsDone is the error of a command that was executed more than once, the last time after
// its deadline. An earlier execution may have been committed.
var errPerhapsDone = cosmos.TimedOut(errTooLate)
