//go:build ci

package projector_test

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"cosmosblog/projector"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/changefeed"
)

// Beside writers and a projector that sets many changes aside, retries lose no change.
func TestRetriesBesideARunningSystem(t *testing.T) {
	seed := testseed.Of(t)
	w := newWorld(t)
	wire, s := w.wired()
	random := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	wire.refuse = func(request *http.Request) int {
		mu.Lock()
		defer mu.Unlock()
		if container := containerOf(request); isWrite(request) && (container == "users" || container == "feed") && random.IntN(10) > 0 {
			return http.StatusBadRequest
		}
		return 0
	}
	_, stop := w.run(s, func(o *projector.Options) {
		o.Wake = w.wake
		o.Renew, o.Balance, o.Expire = 100*time.Millisecond, 100*time.Millisecond, time.Second
	})
	written := make(chan struct{})
	go func() {
		defer close(written)
		simulate(w, seed, *operationsFlag/8)
	}()
	retried := 0
	for running := true; running; {
		for _, letter := range w.letters() {
			retried++
			if err := projector.Retry(t.Context(), w.store.DB, letter); err != nil && !errors.Is(err, changefeed.ErrDeadLetterChanged) {
				t.Errorf("%s: %v", letter.ItemID, err)
			}
		}
		select {
		case <-written:
			ends, err := w.store.ReadEnds(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			behind, err := w.store.CountBehind(t.Context(), ends)
			running = behind > 0 && err == nil
		default:
		}
	}
	stop()
	t.Logf("%d retries, %d dead letters left", retried, len(w.letters()))
	for range 2 { // the first round may meet refusals that were still under way
		wire.refuse = nil
		w.settle()
		w.retryAll(nil)
	}
	w.settle()
	w.wantViewsEqualSource()
	w.wantNoDrift()
}
