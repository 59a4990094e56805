package command

import (
	"time"

	"cosmosblog/projector"
)

// standstills remember since when each feed range is seen behind at one position. A change feed shows the last change of an
// item alone: of one that changes all the time it tells no older one, however long nobody has projected it.
type standstills map[string]standstill

type standstill struct {
	position string
	since    time.Time
}

// note takes in what was looked up now, and makes each lag at least as old as the position was seen to stand still behind something.
func (s standstills) note(lags []projector.Lag, now time.Time) {
	for i := range lags {
		lag := &lags[i]
		feed := lag.Container + " " + lag.Range.String()
		seen, ok := s[feed]
		switch {
		case lag.Changes == 0:
			delete(s, feed)
		case !ok || seen.position != lag.Position:
			s[feed] = standstill{lag.Position, now}
		case seen.since.Before(lag.Since):
			lag.Since = seen.since
		}
	}
}
