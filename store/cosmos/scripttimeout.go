package cosmos

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// IsExhausted reports whether a script ran out of time (408) and must not be executed again for the
// same purpose. The account blocks a script that often runs out of time. After a 408, a script is
// therefore executed once more, whatever layer asks for it. After that, the DB returns this error
// in place of an execution, until nobody has asked for a minute. The outcome is unknown.
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

// WriteWithTrigger executes a write with a trigger, and once more if it runs out of time, which
// must be safe. purpose identifies the write to the layers that may repeat it, such as the written
// item and its revision. The error is that of write, or satisfies IsExhausted.
func (db *DB) WriteWithTrigger(
	ctx context.Context, trigger Script, purpose string, write func(context.Context) error,
) error {
	key := func() purposeHash { return hashPurpose(trigger.ID, purpose) }
	err := db.rest.timeouts.execute(ctx, key, write)
	if isTimeout(err) && !IsExhausted(err) {
		err = db.rest.timeouts.execute(ctx, key, write)
	}
	return err
}

// purposeHash is a hash of what a script is executed for.
type purposeHash [sha256.Size]byte

func hashPurpose(parts ...string) purposeHash {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// scriptTimeouts remembers the scripts that ran out of time. It may be used concurrently.
type scriptTimeouts struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[purposeHash]scriptTimeout
}

// scriptTimeout is what a script was executed for when it ran out of time.
type scriptTimeout struct {
	asked time.Time // when it was last executed, or asked for
	last  error     // of the execution after the 408; nil if there was none
}

const (
	// timeoutMemory is longer than the pauses in which layers repeat by themselves. An operator who
	// has mended the cause waits as long.
	timeoutMemory = time.Minute

	maxTimeouts = 1000
)

// execute executes a script once, unless it ran out of time and was executed again before.
func (t *scriptTimeouts) execute(ctx context.Context, key func() purposeHash, send func(context.Context) error) error {
	before, last := t.find(key)
	if last != nil {
		return exhausted{last}
	}
	if before {
		ctx = withoutConflicts(ctx)
	}
	err := send(ctx)
	switch {
	case !before && !isTimeout(err) || ctx.Err() != nil:
		return err
	case !before:
		t.keep(key(), nil)
		return err
	case err == nil:
		t.forget(key())
		return nil
	}
	t.keep(key(), err)
	if OutcomeUnknown(ctx, err) || isNotSent(err) || IsThrottled(ToBlogError(err)) {
		return exhausted{err}
	}
	return err // of an item, which the caller reads
}

// find reports whether a script ran out of time before, and how it failed when it was executed once
// more.
func (t *scriptTimeouts) find(key func() purposeHash) (before bool, last error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.seen) == 0 {
		return false, nil // as usual
	}
	now := t.now()
	maps.DeleteFunc(t.seen, func(_ purposeHash, s scriptTimeout) bool {
		return now.Sub(s.asked) >= timeoutMemory
	})
	k := key()
	found, ok := t.seen[k]
	if ok {
		t.seen[k] = scriptTimeout{now, found.last}
	}
	return ok, found.last
}

func (t *scriptTimeouts) keep(key purposeHash, last error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil || len(t.seen) >= maxTimeouts { // so many scripts are blocked anyway
		t.seen = map[purposeHash]scriptTimeout{}
	}
	t.seen[key] = scriptTimeout{t.now(), last}
}

func (t *scriptTimeouts) forget(key purposeHash) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, key)
}

// IsScriptBlocked reports whether the account refuses to execute a script because several of its
// executions took more time or throughput than a script may. The account refuses it until it is
// deleted and created again. Only the message tells this apart from other 403 answers (GatewayTests
// of azure-cosmos-dotnet-v3, ValidateStoredProceduresBlacklisting).
func IsScriptBlocked(err error) bool {
	status, _ := StatusOf(err)
	return status == http.StatusForbidden && strings.Contains(err.Error(), "is blocked for execution")
}
