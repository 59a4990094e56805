package blog

import (
	"sync"
	"time"
)

// DateTime is a moment as items hold it: RFC 3339 in UTC with six digits of a second, always 27 characters long, so
// that texts sort as moments do. The empty DateTime is no moment.
type DateTime string

const dateTimeLayout = "2006-01-02T15:04:05.000000Z"

// NewDateTime cuts t to microseconds.
func NewDateTime(t time.Time) DateTime { return DateTime(t.UTC().Format(dateTimeLayout)) }

// ParseDateTime takes what NewDateTime gives and nothing else. Error: BAD_USER_INPUT.
func ParseDateTime(s string) (DateTime, error) {
	if len(s) == len(dateTimeLayout) {
		if t, err := time.Parse(dateTimeLayout, s); err == nil && NewDateTime(t) == DateTime(s) {
			return DateTime(s), nil
		}
	}
	return "", Errorf(BadUserInput, "That is not a date of this API.")
}

// Time gives the moment; the zero time for the empty DateTime.
func (d DateTime) Time() time.Time {
	t, _ := time.Parse(dateTimeLayout, string(d))
	return t
}

// A Clock gives creation dates that rise strictly within one process, so that what one process made is listed in the
// order in which it was made. It may be used concurrently.
type Clock struct {
	Now func() time.Time // time.Now where nil

	mu   sync.Mutex
	last time.Time
}

// Next gives a date later than all it gave before.
func (c *Clock) Next() DateTime {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := now().UTC().Truncate(time.Microsecond)
	if !t.After(c.last) {
		t = c.last.Add(time.Microsecond)
	}
	c.last = t
	return NewDateTime(t)
}
