package store

import (
	"context"
	"errors"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
)

// tries retries one command that cannot be a single transaction. Every loop of a command has the
// same shape: read, decide, write, classify.
//
//	tries := s.newTries()
//	for {
//		… read the items; return if the command is rejected or already done
//		… write, on the condition that the items are still as they were read
//		if err == nil {
//			return …
//		}
//		if err := tries.next(ctx, err); err != nil {
//			return err
//		}
//	}
type tries struct {
	db      *cosmos.DB
	count   int   // of failed tries
	unknown error // of the last try of unknown outcome: later tries may have lost their race to it
}

func (s *Store) newTries() *tries { return &tries{db: s.db} }

// next classifies the error of a try and waits before the next one. It returns nil if the try lost
// a race or has an unknown outcome, and the command must therefore be tried again. Otherwise it
// returns the error of the command: err itself if it is final. After the last try, that is the
// error of a try of unknown outcome, or CONFLICT if every try lost a race.
func (t *tries) next(ctx context.Context, err error) error {
	switch {
	case cosmos.OutcomeUnknown(ctx, err):
		t.unknown = err
	case !isRaceLost(err):
		return err
	}
	t.count++
	switch {
	case t.db.BackOff(ctx, t.count):
		return nil
	case t.unknown != nil:
		return t.unknown
	}
	return &blog.Error{
		Code:    blog.Conflict,
		Message: "Another request is changing the same data right now. Try again.",
		Err:     err,
	}
}

// isRaceLost reports whether a conditional write lost a race. Rejections by our own rules may have
// the same codes, but no cause.
func isRaceLost(err error) bool {
	e, ok := errors.AsType[*blog.Error](err)
	return ok && e.Err != nil && cosmos.IsRaceLost(err)
}
