package engine

import "slices"

// The methods of this file are for tests in which one engine takes the place of another, whose last
// writes it lacks: see LoseWrites of package cosmostest.

// Serial returns the last serial number that was assigned since Open. Etags, and the resource ids
// of items and scripts, are made of them. It is safe for concurrent use.
func (e *Engine) Serial() uint64 { return e.serial.Load() }

// SkipSerials makes serial numbers continue after last, unless they are there already. It is safe
// for concurrent use.
func (e *Engine) SkipSerials(last uint64) {
	for now := e.serial.Load(); now < last; now = e.serial.Load() {
		if e.serial.CompareAndSwap(now, last) {
			return
		}
	}
}

// TakeWatchers makes the channels of another engine's Watch receive after writes to this one, under
// the same names of databases and containers. It must be called once at most for the other engine.
// It may run concurrently with requests, with Watch and with stops.
func (e *Engine) TakeWatchers(other *Engine) {
	other.catalogMu.Lock()
	defer other.catalogMu.Unlock()
	e.catalogMu.Lock()
	defer e.catalogMu.Unlock()
	for name, old := range other.watched {
		if e.watched[name] == nil {
			e.watched[name] = newWatchers()
		}
		e.watched[name].takeFrom(old)
	}
}

// HasContainer reports whether any database has a container of a name. It is safe for concurrent
// use.
func (e *Engine) HasContainer(name string) bool {
	for _, d := range e.catalog.Load().databases {
		if d.containers[name] != nil {
			return true
		}
	}
	return false
}

// HideChanges makes the change feeds of containers begin at the present: they show what is written
// from now on, until the engine is closed, also after a split. names are the containers' without
// their database; without any, it concerns all containers. It may run concurrently with requests.
func (e *Engine) HideChanges(names ...string) {
	for _, d := range e.catalog.Load().databases {
		for name, c := range d.containers {
			if len(names) > 0 && !slices.Contains(names, name) {
				continue
			}
			for _, r := range c.ranges {
				r.mu.Lock()
				r.hidden.Store(r.lsn)
				r.mu.Unlock()
			}
		}
	}
}
