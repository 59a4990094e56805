package resolvers

import (
	"context"
	"sync"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
)

// arrivalWatch tells the streams of a server when posts come into the feed. The feed also changes
// with each like of its posts. So one goroutine reads the horizon after changes, and wakes the
// streams only if it has another arrival. The goroutine runs while there are streams. It may be
// used concurrently.
//
// A signal tells of the state that the goroutine has read. It may be ahead of what the tail has
// seen, and no other signal follows when the tail comes there. So a stream reads that state, or a
// later one, after each signal and before it waits for the first one (join). Otherwise, a replica
// that lags could answer with the state of before, and the stream would wait for the next arrival.
type arrivalWatch struct {
	store *store.Store

	mu        sync.Mutex
	listeners map[chan struct{}]bool
	end       func()               // ends the goroutine; nil if there is none
	read      cosmos.SessionTokens // the states of which the latest signal tells
}

// arrivalsApart is the least time between two reads of the horizon.
const arrivalsApart = 100 * time.Millisecond

// listen returns a channel that receives after arrivals, and a function that must be called at the
// end. It also receives once when the goroutine has begun.
func (w *arrivalWatch) listen() (arrived <-chan struct{}, stop func()) {
	listener := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w.listeners, w.end = map[chan struct{}]bool{}, cancel
		go w.run(ctx)
	}
	w.listeners[listener] = true
	return listener, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.listeners, listener); len(w.listeners) == 0 && w.end != nil {
			w.end()
			w.end, w.read = nil, nil // what was read may be lost when others come
		}
	}
}

// run reads the horizon after changes of the feed until ctx ends. A read that fails is repeated.
func (w *arrivalWatch) run(ctx context.Context) {
	changed, stop := w.store.WatchFeed()
	defer stop()
	follow := w.store.Follow()
	isKnown, known := false, blog.DateTime("")
	for ctx.Err() == nil {
		reading := follow(ctx)
		last, _, err := w.store.LastArrivals(reading)
		if err == nil {
			w.note(cosmos.SeenInSession(reading), !isKnown || last != known)
			isKnown, known = true, last
			_ = wait(ctx, changed) // fails when ctx ends, as Sleep does
		}
		_ = cosmos.Sleep(ctx, arrivalsApart)
	}
}

// join adds what the goroutine has read to the session of ctx, which must be that of a stream.
func (w *arrivalWatch) join(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for container, token := range w.read {
		cosmos.JoinSession(ctx, container, token.String())
	}
}

// note notes what was read, and wakes all streams if it has another arrival.
func (w *arrivalWatch) note(read cosmos.SessionTokens, isNew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.read = read; !isNew {
		return
	}
	for listener := range w.listeners {
		select {
		case listener <- struct{}{}:
		default: // a signal is pending
		}
	}
}
