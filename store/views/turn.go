package views

import (
	"context"
	"time"
)

// turn lets callers do something one after the other, as long as each of them ends soon. It saves
// work, and guarantees nothing. It has room for one element, which is there during a turn.
type turn chan struct{}

// maxTurn is how long a caller waits for its turn. A group usually takes some tens of milliseconds.
// If one of its answers is missing, it lasts until its worker gives up, and others begin beside it.
const maxTurn = 250 * time.Millisecond

// take waits for a turn, which end ends, or begins without one after longest. Error: that of ctx.
func (t turn) take(ctx context.Context, longest time.Duration) (end func(), err error) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-timer.C:
		return func() {}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
