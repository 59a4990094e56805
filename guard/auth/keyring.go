package auth

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
)

// The times of key reads that do not depend on the keys' lifetime.
const (
	rereadPause = time.Minute     // minimum time from a read to the next read for an unknown key
	firstPause  = 5 * time.Second // before the first retry of a failed read; doubles with each failure
	maxPause    = time.Minute
	maxKeyAge   = 24 * time.Hour // of keys whose issuer does not respond
)

// keyring holds the keys of an issuer as last read. One goroutine, in run, reads them. All
// requests with unknown keys wait for the same read.
type keyring struct {
	read   func(context.Context) (keys keySet, lifetime time.Duration, err error)
	logger *slog.Logger
	wanted chan struct{} // has an element while a request needs a read

	mu       sync.Mutex
	keys     keySet
	readAt   time.Time     // time of the last successful read; zero if there was none
	reads    int           // successful reads
	reading  chan struct{} // closed at the end of the current or requested read; nil if there is none
	endedAt  time.Time     // end of the last read
	failures int           // failed reads since the last successful one
}

// newKeyring returns a keyring whose first read is requested.
func newKeyring(read func(context.Context) (keySet, time.Duration, error), logger *slog.Logger) *keyring {
	return &keyring{read: read, logger: logger, wanted: make(chan struct{}, 1), reading: make(chan struct{})}
}

var errUnknownKey = errors.New("the token names no key of the issuer")

// find returns the keys that can have signed a token: see keySet.find. If there is none, find
// may wait for a read, until ctx ends. It returns errUnknownKey if the issuer has no such key,
// and a *blog.Error if the issuer's keys are not available.
func (k *keyring) find(ctx context.Context, id, algorithm string) ([]jwt.VerificationKey, error) {
	found, reading, err := k.look(id, algorithm)
	if reading == nil {
		return found, err
	}
	select {
	case <-reading:
	case <-ctx.Done():
		return nil, k.unavailable()
	}
	found, _, err = k.look(id, algorithm)
	return found, err
}

// current returns the number of the last read. It returns false if the keys of that read must not
// be used any more, or if there was none.
func (k *keyring) current() (read int, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reads, k.isKnown(time.Now())
}

// isKnown reports whether the keys may be used. The mutex must be locked.
func (k *keyring) isKnown(now time.Time) bool {
	return !k.readAt.IsZero() && now.Sub(k.readAt) < maxKeyAge
}

// look returns keys without waiting. If it finds none, it returns an error. If a read is
// requested or in progress, it also returns a channel that is closed when that read ends.
func (k *keyring) look(id, algorithm string) ([]jwt.VerificationKey, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	known := k.isKnown(now)
	if known {
		if found := k.keys.find(id, algorithm); len(found) > 0 {
			return found, nil, nil
		}
	}
	if known && k.reading == nil && now.Sub(k.endedAt) >= rereadPause {
		k.reading = make(chan struct{})
		k.wanted <- struct{}{}
	}
	if known && k.failures == 0 {
		return nil, k.reading, errUnknownKey
	}
	return nil, k.reading, k.unavailable()
}

// unavailable returns an error that is not UNAUTHENTICATED, because the token may be valid and
// its owner need not sign in again.
func (k *keyring) unavailable() error {
	return &blog.Error{Code: blog.Internal, RetryAfter: firstPause,
		Message: "Tokens cannot be verified now, because the keys of their issuer could not be read. " +
			"Retry later, or read without a token."}
}

// run reads the keys at the end of their lifetime, and when a request needs a read.
func (k *keyring) run(ctx context.Context) error {
	for {
		k.begin()
		keys, lifetime, err := k.read(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause := k.end(ctx, keys, lifetime, err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-k.wanted:
		case <-time.After(pause):
		}
	}
}

// begin marks the start of a read, which serves all requests that wait for one.
func (k *keyring) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reading == nil {
		k.reading = make(chan struct{})
	}
	select {
	case <-k.wanted:
	default:
	}
}

// end stores the result of a read, wakes the waiting requests, and returns the pause before the
// next read.
func (k *keyring) end(ctx context.Context, keys keySet, lifetime time.Duration, err error) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.endedAt = time.Now()
	close(k.reading)
	k.reading = nil
	if err != nil {
		k.logFailure(ctx, err)
		k.failures++
		return min(firstPause<<min(k.failures-1, 10), maxPause)
	}
	if k.failures > 0 || k.readAt.IsZero() {
		k.logger.LogAttrs(ctx, slog.LevelInfo, "the issuer's keys were read", slog.Int("keys", len(keys)))
	}
	k.keys, k.readAt, k.failures = keys, k.endedAt, 0
	k.reads++
	return lifetime
}

func (k *keyring) logFailure(ctx context.Context, err error) {
	attributes := []slog.Attr{slog.Any("cause", err)}
	if !k.readAt.IsZero() {
		attributes = append(attributes, slog.Time("lastRead", k.readAt))
	}
	k.logger.LogAttrs(ctx, slog.LevelWarn, "the issuer's keys could not be read", attributes...)
}
