package blog

import (
	"sync"
	"time"
)

// DateTime is a time in the form that items store: RFC 3339 in UTC with microseconds, always 27
// characters long. The strings therefore sort in the order of time. The empty DateTime means no
// time.
type DateTime string

const dateTimeLayout = "2006-01-02T15:04:05.000000Z"

// NewDateTime returns t truncated to microseconds.
func NewDateTime(t time.Time) DateTime { return DateTime(t.UTC().Format(dateTimeLayout)) }

// ParseDateTime parses a result of NewDateTime. It returns BAD_USER_INPUT for any other text.
func ParseDateTime(s string) (DateTime, error) {
	if len(s) == len(dateTimeLayout) {
		if t, err := time.Parse(dateTimeLayout, s); err == nil && NewDateTime(t) == DateTime(s) {
			return DateTime(s), nil
		}
	}
	return "", Errorf(BadUserInput, "This is not a date of this API.")
}

// Time returns d as a time.Time, or the zero time if d is empty.
func (d DateTime) Time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, string(d)) // a layout that package time parses fast
	return t
}

// After returns d, or a microsecond after last if d is not later.
func (d DateTime) After(last DateTime) DateTime {
	if d > last {
		return d
	}
	return NewDateTime(last.Time().Add(time.Microsecond))
}

// Clock returns creation dates that strictly increase within one process, so that lists show the
// items of one process in the order of their creation. It may be used concurrently.
//
// If its source steps back by more than maxStep, so does the Clock: the source had jumped ahead by
// mistake, and all later dates would be wrong, too.
type Clock struct {
	Now func() time.Time // its source

	mu   sync.Mutex
	last time.Time
}

// maxStep is the longest time for which a Clock waits for its source, with dates that are closer to
// each other than the events. Corrections of a source that follows another clock are shorter.
const maxStep = 10 * time.Second

// Next returns a date later than all dates that it returned before, unless the source stepped back.
func (c *Clock) Next() DateTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.Now().UTC().Truncate(time.Microsecond)
	if !t.After(c.last) && c.last.Sub(t) <= maxStep {
		t = c.last.Add(time.Microsecond)
	}
	c.last = t
	return NewDateTime(t)
}
