package views

import (
	"context"
	"sync"
	"time"
)

// turn lets callers do something one after the other, as long as each of them ends soon. It saves
// work, and guarantees nothing.
type turn struct {
	longest time.Duration // how long others wait for a turn; maxTurn, except in tests

	mu    sync.Mutex
	taken chan struct{} // holds an element during a turn; replaced if a turn takes too long
}

func newTurn(longest time.Duration) *turn {
	return &turn{longest: longest, taken: make(chan struct{}, 1)}
}

// maxTurn is how long others wait for a turn. A group usually takes some tens of milliseconds. If
// one of its answers is missing, it lasts until its worker gives up, and the next one begins beside
// it. So a caller waits at most maxTurn for each caller before it.
const maxTurn = 250 * time.Millisecond

// take waits for a turn, which end ends. Error: that of ctx.
func (t *turn) take(ctx context.Context) (end func(), err error) {
	timer := time.NewTimer(t.longest)
	defer timer.Stop()
	for {
		t.mu.Lock()
		taken := t.taken
		t.mu.Unlock()
		select {
		case taken <- struct{}{}:
			return func() { <-taken }, nil
		case <-timer.C:
			t.replace(taken)
			timer.Reset(t.longest)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// replace leaves the present turn to itself, unless another caller did so meanwhile.
func (t *turn) replace(taken chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken == taken {
		t.taken = make(chan struct{}, 1)
	}
}
