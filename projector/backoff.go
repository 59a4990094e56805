package projector

import "time"

// backoff is a delay between retries that doubles with each of them.
type backoff struct{ next, max time.Duration }

// delay returns the next delay.
func (b *backoff) delay() time.Duration {
	d := min(b.next, b.max)
	b.next = 2 * d
	return d
}
