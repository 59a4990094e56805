package projector

import (
	"testing"
	"time"
)

// A heartbeat that began in time, but succeeded too late, does not keep the leases: another
// projector may have taken them before it was written.
func TestPulse(t *testing.T) {
	const expire = 20 * time.Second
	p, start := &pulse{expire: expire}, time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	if p.isAlive(p.lapses(), start) {
		t.Error("alive before the first heartbeat")
	}
	p.beat(start, start)
	lapse := p.lapses()
	if !p.isAlive(lapse, at(expire-1)) || p.isAlive(lapse, at(expire)) {
		t.Error("a heartbeat does not last for its time")
	}
	p.beat(at(10*time.Second), at(expire-1))
	if !p.isAlive(lapse, at(10*time.Second+expire-1)) || p.isAlive(lapse, at(10*time.Second+expire)) {
		t.Error("a heartbeat does not last from its beginning")
	}
	p.beat(at(15*time.Second), at(10*time.Second+expire))
	if p.isAlive(lapse, at(31*time.Second)) || !p.isAlive(p.lapses(), at(31*time.Second)) {
		t.Error("a late heartbeat keeps the leases")
	}
}
