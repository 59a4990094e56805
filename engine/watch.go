package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// watchers are notified of a container's writes. Notifying them takes no lock.
type watchers struct {
	mu       sync.Mutex // held while the list changes
	channels atomic.Pointer[[]chan struct{}]
	next     *watchers // of the engine that took them: see takeFrom; guarded by mu
}

func newWatchers() *watchers {
	w := &watchers{}
	w.channels.Store(&[]chan struct{}{})
	return w
}

// watchersOf returns the watchers of a container's names. They survive if the container is
// deleted and created again. The caller holds the catalog's lock.
func (e *Engine) watchersOf(database, container string) *watchers {
	name := database + "/" + container
	if e.watched[name] == nil {
		e.watched[name] = newWatchers()
	}
	return e.watched[name]
}

func (w *watchers) add() (<-chan struct{}, func()) {
	channel := make(chan struct{}, 1)
	w.change(func(list []chan struct{}) []chan struct{} { return append(list, channel) })
	return channel, func() {
		w.change(func(list []chan struct{}) []chan struct{} {
			return slices.DeleteFunc(list, func(c chan struct{}) bool { return c == channel })
		})
	}
}

func (w *watchers) change(f func([]chan struct{}) []chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := f(slices.Clone(*w.channels.Load()))
	w.channels.Store(&list)
	if w.next != nil {
		w.next.change(f)
	}
}

// takeFrom adds the channels of another engine's watchers, also those that are added later.
// Releasing a channel there releases it here, too.
func (w *watchers) takeFrom(other *watchers) {
	other.mu.Lock()
	defer other.mu.Unlock()
	other.next = w
	w.change(func(list []chan struct{}) []chan struct{} { return append(list, *other.channels.Load()...) })
}

func (w *watchers) signal() {
	for _, channel := range *w.channels.Load() {
		select {
		case channel <- struct{}{}:
		default: // a signal is already pending
		}
	}
}

// Watch returns a channel that receives after writes to a container are on disk. Several writes
// may cause one receive. The channel stays valid if the container is deleted and created again
// under the same names; stop releases it. Watch returns an error if there is no such container.
func (e *Engine) Watch(database, container string) (written <-chan struct{}, stop func(), err error) {
	c, rejection := e.container(database, container)
	if rejection != nil {
		return nil, nil, fmt.Errorf("engine: watch %s/%s: %w", database, container, rejection)
	}
	written, stop = c.watch.add()
	return written, stop, nil
}
