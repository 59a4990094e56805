package cosmos

import (
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// databaseClock follows the database's clock by the header Date of its answers. All clocks of an
// account are assumed to agree within a second. A server's clock may be off by any amount, and
// may jump. It may be used concurrently.
//
// An answer dated D was written between D and D + 1 s, and between its request and its arrival.
// That bounds the difference between the two clocks. Later answers narrow the bounds. If an answer
// contradicts them, a clock was changed or the machine slept, and only that answer counts.
//
// Between answers, time passes as by the monotonic clock of this machine.
type databaseClock struct {
	local func() time.Time           // Options.Now
	off   func(offset time.Duration) // Options.ClockOff; nil if nobody listens

	mu          sync.Mutex // guards the fields below
	measured    bool       // there was an answer
	origin      time.Time  // local time of the first answer
	least, most time.Duration
	reported    bool // off was called last with an offset

	header string // the last Date, and its time
	date   time.Time
}

// MaxClockOffset is the difference between the clock of this machine and that of the database from
// which operators are warned. Nothing is stored by the machine's clock. But tokens expire by it,
// and the service rejects requests that are dated 15 minutes from its own time.
const MaxClockOffset = 10 * time.Second

// note takes an answer into account. sent and arrived are local times.
func (c *databaseClock) note(response *http.Response, sent, arrived time.Time) {
	header := response.Header.Get("Date")
	if header == "" {
		return
	}
	c.mu.Lock()
	if header != c.header {
		date, err := http.ParseTime(header)
		if err != nil {
			c.mu.Unlock()
			return
		}
		c.header, c.date = header, date
	}
	if !c.measured {
		c.origin = sent
	}
	least, most := c.date.Sub(c.unset(arrived)), c.date.Add(time.Second).Sub(c.unset(sent))
	if !c.measured || least > c.most || most < c.least {
		c.measured, c.least, c.most = true, least, most
	}
	c.least, c.most = max(c.least, least), min(c.most, most)
	offset := c.nowAt(arrived).Sub(wall(arrived))
	report := c.off != nil && isOff(offset) != c.reported
	c.reported = isOff(offset)
	c.mu.Unlock()
	if report && isOff(offset) {
		c.off(offset)
	} else if report {
		c.off(0)
	}
}

func isOff(offset time.Duration) bool { return offset.Abs() > MaxClockOffset }

// wall returns a local time without the reading of the monotonic clock.
func wall(local time.Time) time.Time { return local.Round(0) }

// unset returns what the local clock would show if nobody had set it since the first answer.
func (c *databaseClock) unset(local time.Time) time.Time {
	return wall(c.origin).Add(local.Sub(c.origin))
}

// nowAt returns the database's time at a local time: the local time itself if that is possible, and
// otherwise the nearest possible time. The caller holds c.mu.
func (c *databaseClock) nowAt(local time.Time) time.Time {
	if !c.measured {
		return wall(local)
	}
	now := c.unset(local)
	least, most := now.Add(c.least), now.Add(c.most)
	switch now = wall(local); {
	case now.Before(least):
		return least
	case now.After(most):
		return most
	}
	return now
}

func (c *databaseClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowAt(c.local())
}

func (c *databaseClock) earliestNow() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	local := c.local()
	if !c.measured {
		return wall(local)
	}
	return c.unset(local).Add(c.least)
}

func (c *databaseClock) offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	local := c.local()
	return c.nowAt(local).Sub(wall(local))
}

// clockPolicy passes every answer to the clock.
type clockPolicy struct{ *databaseClock }

func (p clockPolicy) Do(request *policy.Request) (*http.Response, error) {
	sent := p.local()
	response, err := request.Next()
	if err == nil {
		p.note(response, sent, p.local())
	}
	return response, err
}
