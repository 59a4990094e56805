package cosmos

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"cosmosblog/store/cosmos/repeat"
)

// IsExhausted reports whether a script ran out of time (408), and failed when it was executed once
// more. Its outcome is unknown. The account blocks a script that often runs out of time, so no
// layer may execute it again for the same purpose: instead, the DB returns the same error, until
// nobody has asked for a minute.
func IsExhausted(err error) bool {
	_, ok := errors.AsType[exhausted](err)
	return ok
}

// exhausted is the error of a script that must not be executed again.
type exhausted struct{ error }

func (e exhausted) Unwrap() error { return e.error }

func isTimeout(err error) bool {
	status, _ := StatusOf(err)
	return status == http.StatusRequestTimeout
}

// ExecuteOnceMore executes a write with a trigger. If it runs out of time, it is executed once
// more, which must be safe (IsExhausted). purpose identifies the write to the layers that may
// repeat it, such as the written item and its revision. The error is that of execute.
func (db *DB) ExecuteOnceMore(ctx context.Context, trigger Script, purpose string, execute func() error) error {
	key := func() purposeHash { return hashPurpose(trigger.ID, purpose) }
	if err := db.rest.exhaustions.find(key); err != nil {
		return err
	}
	err := execute()
	if !isTimeout(err) {
		return err
	}
	return db.rest.exhaustions.exhaust(ctx, key(), execute())
}

// purposeHash is a hash of what a script is executed for.
type purposeHash [sha256.Size]byte

func hashPurpose(parts ...string) purposeHash {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// exhaustions remembers the scripts that must not be executed again. It may be used concurrently.
type exhaustions struct {
	now func() time.Time

	mu     sync.Mutex
	errors map[purposeHash]exhaustion
}

type exhaustion struct {
	error
	asked time.Time // when it was last asked for
}

const (
	// exhaustionTime is longer than the pauses in which layers repeat by themselves. An operator who
	// has mended the cause waits as long.
	exhaustionTime = time.Minute

	maxExhaustions = 1000
)

// find returns the error of a purpose whose script must not be executed again, or nil.
func (x *exhaustions) find(key func() purposeHash) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.errors) == 0 {
		return nil // as usual
	}
	k, now := key(), x.now()
	e, ok := x.errors[k]
	if !ok || now.Sub(e.asked) >= exhaustionTime {
		return nil
	}
	x.errors[k] = exhaustion{e.error, now}
	return e.error
}

// exhaust returns the error of an execution after one that ran out of time. If a further one might
// help, it marks and remembers the error.
func (x *exhaustions) exhaust(ctx context.Context, key purposeHash, err error) error {
	if !OutcomeUnknown(ctx, err) && !repeat.IsNotSent(err) && !IsThrottled(ToBlogError(err)) {
		return err
	}
	err = exhausted{err}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.errors) >= maxExhaustions {
		clear(x.errors) // so many scripts are blocked anyway
	}
	if x.errors == nil {
		x.errors = map[purposeHash]exhaustion{}
	}
	x.errors[key] = exhaustion{err, x.now()}
	return err
}
