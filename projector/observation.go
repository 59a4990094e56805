package projector

import "time"

// observations record for how long items have kept their etags, by the observer's own clock. The
// keys are ids of items.
type observations map[string]observation

type observation struct {
	etag  string
	since time.Time
}

// unchangedFor records the current etag of an item, and returns the time since the item was first
// observed with it.
func (o observations) unchangedFor(id, etag string, now time.Time) time.Duration {
	seen, ok := o[id]
	if !ok || seen.etag != etag {
		o[id] = observation{etag, now}
		return 0
	}
	return now.Sub(seen.since)
}

// retain drops the observations of all items that ids does not contain.
func (o observations) retain(ids map[string]bool) {
	for id := range o {
		if !ids[id] {
			delete(o, id)
		}
	}
}
