package projector

import "time"

// A user's next sweep begins after a rest, so that renames in a row share a sweep. On average, the
// sweeps of one user are charged restRate at most, unless the rest would be longer than maxRest.
const (
	minRest  = 2 * time.Second
	maxRest  = 5 * time.Minute
	restRate = 100 // RU/s
)

// rest lets a user rest from now on, after a pass that was charged some RU and ended or was
// replaced. A rest that lasts longer stays.
func (c *chore) rest(id string, charge float64, now time.Time) {
	d := min(max(time.Duration(charge/restRate*float64(time.Second)), minRest), maxRest)
	if end := now.Add(d); c.rests != nil && end.After(c.rests[id]) {
		c.rests[id] = end
	}
}
