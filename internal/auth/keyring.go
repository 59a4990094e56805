package auth

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/internal/blog"
)

// When keys are read beside the times that their lifetime gives.
const (
	rereadPause  = time.Minute     // between a reading and the next one that a key which is not known asks for
	firstPause   = 5 * time.Second // before a reading that failed is tried again; twice as long each time
	longestPause = time.Minute
	maxKeyAge    = 24 * time.Hour // of keys whose issuer does not answer
)

// keyring has the keys of an issuer as they were last read. One goroutine reads them, in run; requests that need to know
// more wait for it together.
type keyring struct {
	read   func(context.Context) (keys keySet, lifetime time.Duration, err error)
	logger *slog.Logger
	wanted chan struct{} // holds something where a reading was asked for

	mu       sync.Mutex
	keys     keySet
	readAt   time.Time     // when keys was read; zero where it never was
	reading  chan struct{} // closed when the reading ends that is under way or asked for; nil where none is
	endedAt  time.Time     // of the last reading
	failures int           // readings that failed, since one did not
}

// newKeyring makes a keyring for which the first reading is asked for.
func newKeyring(read func(context.Context) (keySet, time.Duration, error), logger *slog.Logger) *keyring {
	return &keyring{read: read, logger: logger, wanted: make(chan struct{}, 1), reading: make(chan struct{})}
}

var errUnknownKey = errors.New("the token names no key of the issuer")

// find gives the keys that a token may be signed with: see keySet.find. Where there are none, it may wait for a reading,
// until ctx ends. Errors: errUnknownKey; a *blog.Error where the issuer's keys are not known.
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

// look gives keys, or a reading to wait for, or an error; the error stands also where a reading could be waited for.
func (k *keyring) look(id, algorithm string) ([]jwt.VerificationKey, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	known := !k.readAt.IsZero() && now.Sub(k.readAt) < maxKeyAge
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

// unavailable is no fault of the token's: its owner need not sign in again.
func (k *keyring) unavailable() error {
	return &blog.Error{Code: blog.Internal, RetryAfter: firstPause,
		Message: "Tokens cannot be checked at the moment: the keys of their issuer could not be read. Reading without a token works."}
}

// run reads the keys whenever it is time, or somebody asks for it.
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

// begin makes everybody wait for the reading that begins. Who asked for one gets this one.
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

// end keeps what was read, lets everybody go on, and says when to read again.
func (k *keyring) end(ctx context.Context, keys keySet, lifetime time.Duration, err error) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.endedAt = time.Now()
	close(k.reading)
	k.reading = nil
	if err != nil {
		k.logFailure(ctx, err)
		k.failures++
		return min(firstPause<<min(k.failures-1, 10), longestPause)
	}
	if k.failures > 0 || k.readAt.IsZero() {
		k.logger.LogAttrs(ctx, slog.LevelInfo, "the issuer's keys were read", slog.Int("keys", len(keys)))
	}
	k.keys, k.readAt, k.failures = keys, k.endedAt, 0
	return lifetime
}

func (k *keyring) logFailure(ctx context.Context, err error) {
	attributes := []slog.Attr{slog.Any("cause", err)}
	if !k.readAt.IsZero() {
		attributes = append(attributes, slog.Time("lastRead", k.readAt))
	}
	k.logger.LogAttrs(ctx, slog.LevelWarn, "the issuer's keys could not be read", attributes...)
}
