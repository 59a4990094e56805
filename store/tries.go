package store

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// tries retries one command that cannot be a single transaction. Every loop of a command has the
// same shape: read, decide, write, classify.
//
//	tries := s.newTries()
//	for {
//		result, err := s.tryCommand(ctx, tries, …)
//		if err == nil {
//			return result, nil
//		}
//		if err := tries.next(ctx, err); err != nil {
//			return nil, err
//		}
//	}
//
// A try reads items. If they show that the command is rejected, or already done, it returns
// tries.decide. Otherwise it writes, on the condition that the items are still as they were read.
type tries struct {
	db      *cosmos.DB
	count   int   // of failed tries
	unknown error // error of the last try that may have been committed; later tries may have lost to its write

	current map[place]bool // partitions in which decide has advanced the session
}

// place is an item that a command reads.
type place struct {
	container     *azcosmos.ContainerClient
	partition, id string
}

func (s *Store) newTries() *tries { return &tries{db: s.db, current: map[place]bool{}} }

// decide returns the result of a command that needs no write: the rejection err, or nil if the
// command is already done. The reads may be older than an acknowledged write. On the first call,
// decide therefore advances the session in the partitions that were read, and returns errReadAgain.
// Errors of the database are returned unchanged.
func (t *tries) decide(ctx context.Context, err error, read ...place) error {
	if e, ok := errors.AsType[*blog.Error](err); err != nil && (!ok || e.Err != nil) {
		return err
	}
	current := true
	for _, p := range read {
		if t.current[p] {
			continue
		}
		current = false
		if err := cosmos.AdvanceSession(ctx, p.container, p.partition, p.id); err != nil {
			return err
		}
		t.current[p] = true
	}
	if !current {
		return errReadAgain
	}
	return err
}

// errReadAgain makes the command read again, after decide advanced the session.
var errReadAgain = errors.New("the read may be older than an acknowledged write")

// next classifies the error of a try and waits before the next one. It returns nil if the command
// must be tried again: because the try lost a race, has an unknown outcome, or read items that may
// be old. Otherwise it returns the error of the command: err itself if it is final. After the last
// try, that is the error of a try of unknown outcome, or TRY_AGAIN if every try lost a race.
func (t *tries) next(ctx context.Context, err error) error {
	switch {
	case err == errReadAgain:
		return nil
	case cosmos.OutcomeUnknown(ctx, err):
		t.unknown = err
	case !isRaceLost(err):
		if t.unknown != nil && cosmos.IsThrottled(err) { // this try wrote nothing, an earlier one may have
			return t.unknown
		}
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
		Code:    blog.TryAgain,
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
