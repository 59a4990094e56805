package projector

import "time"

// sightings remember since when items are known to be as they are, by one's own clock.
type sightings map[string]sighting

type sighting struct {
	etag  string
	since time.Time
}

// unchanged notes that an item has the etag now, and gives for how long it was seen with it.
func (s sightings) unchanged(id, etag string, now time.Time) time.Duration {
	seen, ok := s[id]
	if !ok || seen.etag != etag {
		s[id] = sighting{etag, now}
		return 0
	}
	return now.Sub(seen.since)
}

// keepOnly forgets all items but those that ids has.
func (s sightings) keepOnly(ids map[string]bool) {
	for id := range s {
		if !ids[id] {
			delete(s, id)
		}
	}
}
