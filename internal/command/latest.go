package command

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// latest is something that is looked up when somebody asks, but at most once in latestAge, however many ask: it costs
// requests, and everybody may ask. It may be used concurrently.
type latest[T any] struct {
	life context.Context // what is looked up ends with it, and with nobody who asks
	look func(context.Context) (T, error)
	now  func() time.Time
	age  time.Duration // how old it may be where it was found without an error; latestAge where 0

	mu   sync.Mutex // held while last is read or replaced
	last *lookup[T]
}

// lookup is one of them, under way until done is closed.
type lookup[T any] struct {
	done  chan struct{}
	at    time.Time
	value T
	err   error
}

// How old an answer may be, and how long one is waited for.
const (
	latestAge     = time.Second
	latestTimeout = 4 * time.Second
)

// get gives what was looked up. Beside an error, the value is what there is all the same. Error: the lookup's, or it took too
// long, or until ctx was done.
func (l *latest[T]) get(ctx context.Context) (value T, err error) {
	ctx, cancel := context.WithTimeout(ctx, latestTimeout)
	defer cancel()
	current := l.current()
	select {
	case <-current.done:
		return current.value, current.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// current gives the last lookup where it is under way or young, otherwise a new one.
func (l *latest[T]) current() *lookup[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && !l.last.isOlder(l.now(), cmp.Or(l.age, latestAge)) {
		return l.last
	}
	current := &lookup[T]{done: make(chan struct{})}
	l.last = current
	go func() {
		defer close(current.done)
		ctx, cancel := context.WithTimeout(l.life, latestTimeout)
		defer cancel()
		current.value, current.err = l.look(ctx)
		current.at = l.now()
	}()
	return current
}

// isOlder tells whether the lookup ended so long ago. One that failed is old after latestAge.
func (l *lookup[T]) isOlder(now time.Time, age time.Duration) bool {
	select {
	case <-l.done:
		if l.err != nil {
			age = latestAge
		}
		return !l.at.After(now.Add(-age))
	default:
		return false
	}
}
