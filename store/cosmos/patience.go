package cosmos

import (
	"context"
	"math/rand/v2"
	"time"
)

// patience bounds the pauses between the tries of one request: they begin at firstDelay and double
// up to lastPatientDelay, until the context's deadline. A pause that would end later is not begun.
// Without a deadline, they add up to patientTime at most, the default of --timeout.
type patience struct {
	ctx   context.Context
	sleep sleepFunc

	// Since the first pause, because most requests need none.
	deadline time.Time // zero if there is none
	left     time.Duration
	delay    time.Duration
}

const (
	lastPatientDelay = time.Second
	patientTime      = 10 * time.Second
)

// wait waits before the next try. It returns false if there is no next try, or if ctx is done.
func (p *patience) wait() bool {
	if p.delay == 0 {
		p.begin()
	}
	pause := jitter(p.delay)
	p.delay = min(2*p.delay, lastPatientDelay)
	p.left -= pause // also if sleep returns at once
	if p.left < 0 || !p.deadline.IsZero() && time.Until(p.deadline) < pause {
		return false
	}
	return p.sleep(p.ctx, pause) == nil
}

func (p *patience) begin() {
	p.delay, p.left = firstDelay, patientTime
	if deadline, ok := p.ctx.Deadline(); ok {
		p.deadline, p.left = deadline, time.Until(deadline)
	}
}

// jitter returns a random time between half and one and a half of a delay.
func jitter(delay time.Duration) time.Duration { return delay/2 + rand.N(delay) }
