package tail

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Watch returns a channel that receives when a partition may have changed, and a function that must
// be called at the end. Several changes may be received as one. It also receives if changes may
// have been missed, and sometimes after a change of another partition. A read after the receive has
// the change, if it is sent in the tail's session (Join). If the container is not among those of
// Options, or the tail does not run, the channel never receives.
func (t *Tail) Watch(container, partition string) (changed <-chan struct{}, stop func()) {
	w := &watcher{container: container, changed: make(chan struct{}, 1)}
	i := t.index(container, partition)
	t.watchers.add(i, w)
	if c := t.containers[container]; c != nil {
		c.wakeUp()
	}
	return w.changed, func() { t.watchers.remove(i, w) }
}

// Signals returns a number that has changed before a channel of Watch for the partition receives.
// Unlike that of Changes, it does not change while the tail is late.
func (t *Tail) Signals(container, partition string) uint64 {
	c := t.containers[container]
	if c == nil {
		return 0
	}
	return t.counts[t.index(container, partition)].Load() + c.epoch.Load()
}

// watcher waits for changes of one partition.
type watcher struct {
	container string
	changed   chan struct{} // has room for one signal
}

func (w *watcher) signal() {
	select {
	case w.changed <- struct{}{}:
	default: // a signal is pending
	}
}

// watchers are all watchers of a tail, by the index of the count that they wait for. The zero value
// has none. It may be used concurrently.
type watchers struct {
	number atomic.Int64 // so that writes need not lock if there are none

	mu          sync.RWMutex
	byIndex     map[uint16][]*watcher
	byContainer map[string]int // number
}

func (all *watchers) add(i uint16, w *watcher) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byIndex == nil {
		all.byIndex, all.byContainer = map[uint16][]*watcher{}, map[string]int{}
	}
	all.byIndex[i] = append(all.byIndex[i], w)
	all.byContainer[w.container]++
	all.number.Add(1)
}

func (all *watchers) remove(i uint16, w *watcher) {
	all.mu.Lock()
	defer all.mu.Unlock()
	n := len(all.byIndex[i])
	rest := slices.DeleteFunc(all.byIndex[i], func(other *watcher) bool { return other == w })
	if len(rest) == n {
		return // it was removed before
	}
	if all.byIndex[i] = rest; len(rest) == 0 {
		delete(all.byIndex, i)
	}
	all.byContainer[w.container]--
	all.number.Add(-1)
}

// signal wakes the watchers of an index.
func (all *watchers) signal(i uint16) {
	if all.number.Load() == 0 {
		return
	}
	all.mu.RLock()
	defer all.mu.RUnlock()
	for _, w := range all.byIndex[i] {
		w.signal()
	}
}

// signalAll wakes the watchers of a container.
func (all *watchers) signalAll(container string) {
	if all.number.Load() == 0 {
		return
	}
	all.mu.RLock()
	defer all.mu.RUnlock()
	for _, some := range all.byIndex {
		for _, w := range some {
			if w.container == container {
				w.signal()
			}
		}
	}
}

// watch reports whether a container has watchers.
func (all *watchers) watch(container string) bool {
	if all.number.Load() == 0 {
		return false
	}
	all.mu.RLock()
	defer all.mu.RUnlock()
	return all.byContainer[container] > 0
}
