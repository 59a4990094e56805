package projector

import "time"

// doublingDelay is a delay between retries that doubles with each of them.
type doublingDelay struct{ next, max time.Duration }

// delay returns the next delay.
func (d *doublingDelay) delay() time.Duration {
	delay := min(d.next, d.max)
	d.next = 2 * delay
	return delay
}
