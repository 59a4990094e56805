package monitor

import (
	"time"

	"cosmosblog/projector"
)

// stalls records, by container and range, how long each feed range has not advanced.
//
// A change feed shows only the last change of an item. If one item changes constantly, its
// change is always recent, even if no projector runs. The lag of a range that does not advance
// is therefore at least the time of its stall.
type stalls map[string]stall

type stall struct {
	position string
	since    time.Time
}

// note records lags that were looked up at now, and raises each to the time for which its range
// has not advanced.
func (s stalls) note(lags []projector.Lag, now time.Time) {
	for i := range lags {
		lag := &lags[i]
		feed := lag.Container + " " + lag.Range.String()
		seen, ok := s[feed]
		switch {
		case lag.Changes == 0:
			delete(s, feed)
		case !ok || seen.position != lag.Position:
			s[feed] = stall{lag.Position, now}
		case seen.since.Before(lag.Since):
			lag.Since = seen.since
		}
	}
}
