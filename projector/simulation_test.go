package projector_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/projector"
)

var (
	seedFlag       = flag.Uint64("seed", 0, "the seed of the simulations; another each time where 0")
	operationsFlag = flag.Int("operations", 600, "the number of operations of a simulation")
	strideFlag     = flag.Int64("stride", 8, "crash tests crash at every n-th request; 1 for every request")
)

func seed(t testing.TB) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -seed %d", seed)
	return seed
}

// firstCrash returns the first request at which a crash test crashes: a random one below -stride.
func firstCrash() int64 { return rand.Int64N(*strideFlag) }

// rangeCounts are how many feed ranges the simulations' containers have.
var rangeCounts = []int{1, 8}

// Random commands of concurrent writers, while a projector runs that writes wake: in the end every view equals its
// source.
func TestSimulationWithARunningProjector(t *testing.T) {
	seed := seed(t)
	for _, ranges := range rangeCounts {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			_, stop := w.run(w.store, func(o *projector.Options) { o.Wake = w.wake })
			simulate(w, seed, *operationsFlag)
			stop()
			w.settle()
			w.check()
		})
	}
}

// The same, with several projectors that lose leases to one another all the time, so that workers come late and work on
// what others work on.
func TestSimulationWithLeasesThatWander(t *testing.T) {
	w, seed := newWorldOf(t, 8), seed(t)
	var stops []func()
	for range 3 {
		_, stop := w.run(w.store, func(o *projector.Options) {
			o.Wake, o.Renew, o.Balance = w.wake, 10*time.Millisecond, 10*time.Millisecond
		})
		stops = append(stops, stop)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		simulate(w, seed, *operationsFlag)
	}()
	random, wandered := rand.New(rand.NewPCG(seed, 0)), 0
	for done := false; !done; {
		select {
		case <-written:
			done = true
		case <-time.After(5 * time.Millisecond):
			wandered += w.free(random)
		}
	}
	for _, stop := range stops {
		stop()
	}
	t.Logf("%d leases wandered", wandered)
	w.settle()
	w.check()
}

// free takes a random lease away from whoever has it, and gives how many it took.
func (w *world) free(random *rand.Rand) int {
	leases, err := w.store.Leases(w.Context())
	if err != nil || len(leases) == 0 {
		return 0
	}
	lease := leases[random.IntN(len(leases))]
	lease.Owner = ""
	if _, err := w.store.SaveLease(w.Context(), lease); err != nil {
		return 0
	}
	return 1
}

// The same, with a projector that is away all the time and then begins at the beginning, and which is cut off and
// replaced by another after a random number of requests again and again.
func TestSimulationWithADyingProjector(t *testing.T) {
	seed := seed(t)
	for _, ranges := range rangeCounts {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			simulate(w, seed, *operationsFlag)
			t.Logf("%d deaths", w.settleDying(rand.New(rand.NewPCG(seed, 0))))
			w.settle()
			w.check()
		})
	}
}

// settleDying lets projectors die after some requests each, until one is done before that.
func (w *world) settleDying(random *rand.Rand) (deaths int) {
	for ; ; deaths++ {
		wire, s := w.wired()
		p := w.projector(s)
		wire.answerLost = random.IntN(2) == 0
		wire.left.Store(random.Int64N(500))
		if p.Settle(w.Context()) == nil {
			return deaths
		}
	}
}

// simulate does n operations as several writers, each with a random stream of its own.
func simulate(w *world, seed uint64, n int) {
	w.Helper()
	const writers = 8
	pool := &pool{}
	for range 10 {
		pool.users = append(pool.users, w.user())
	}
	var group sync.WaitGroup
	for i := range uint64(writers) {
		group.Go(func() {
			writer := &writer{world: w, pool: pool, Rand: rand.New(rand.NewPCG(seed, i)), store: w.store}
			for range n / writers {
				did, err := writer.write(w.Context(), everyday)
				if err != nil && !isRefusal(err) {
					w.Errorf("%s: %v", did, err)
				}
			}
		})
	}
	group.Wait()
}

// isRefusal tells whether an operation was refused for what it asks: what a writer knows may be gone.
func isRefusal(err error) bool {
	switch blog.CodeOf(err) {
	case blog.NotFound, blog.Conflict, blog.BadUserInput:
		return true
	}
	return false
}
