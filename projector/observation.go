package projector

import (
	"time"

	"cosmosblog/store/changefeed"
)

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

// ofLeases observes a listing, and drops the observations of what is not listed.
func (o observations) ofLeases(l changefeed.Listing, now time.Time) (leases []observedLease) {
	listed := make(map[string]bool, len(l.Leases))
	silent := make(map[string]time.Duration, len(l.Heartbeats)) // by owner
	for owner, heartbeat := range l.Heartbeats {
		listed[heartbeat.ID()] = true
		silent[owner] = o.unchangedFor(heartbeat.ID(), heartbeat.ETag, now)
	}
	for _, lease := range l.Leases {
		listed[lease.ID] = true
		unchanged := o.unchangedFor(lease.ID, lease.ETag, now)
		if d, ok := silent[lease.Owner]; ok {
			unchanged = min(unchanged, d)
		}
		leases = append(leases, observedLease{lease, unchanged, l.Heartbeats[lease.Owner].Expire})
	}
	o.retain(listed)
	return leases
}

// retain drops the observations of all items that ids does not contain.
func (o observations) retain(ids map[string]bool) {
	for id := range o {
		if !ids[id] {
			delete(o, id)
		}
	}
}
