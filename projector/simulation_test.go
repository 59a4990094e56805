package projector_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/proof/testseed"
)

var (
	operationsFlag = flag.Int("operations", 120, "the number of operations of a simulation")
	strideFlag     = flag.Int64("stride", 48,
		"crash tests crash at every n-th request; unless it is 1, other tests take a random selection of their cases")
)

// firstCrash returns the first request at which a crash test crashes, a random one below
// -stride.
func firstCrash(t *testing.T) int64 { return testseed.Rand(t).Int64N(*strideFlag) }

// someOf returns n random elements of all, or all of them if -stride is 1.
func someOf[T any](t *testing.T, all []T, n int) []T {
	if *strideFlag == 1 {
		return all
	}
	some := slices.Clone(all)
	testseed.Rand(t).Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	return some[:min(n, len(some))]
}

// rangeCounts are the numbers of feed ranges of the containers in simulations.
var rangeCounts = []int{1, 8}

// After random commands of concurrent writers, beside a projector that writes wake, every view
// equals its source.
func TestSimulation(t *testing.T) {
	seed := testseed.Of(t)
	for _, ranges := range someOf(t, rangeCounts, 1) {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			_, stop := w.run(w.store, func(o *projector.Options) { o.Wake = w.wake })
			simulate(w, seed, *operationsFlag)
			stop()
			w.settle()
			w.wantViewsEqualSource()
		})
	}
}

// The simulation with several projectors that lose leases to each other all the time, so that
// workers are late and work concurrently on the same changes.
func TestSimulationWithMovingLeases(t *testing.T) {
	w, seed := newWorldOf(t, 8), testseed.Of(t)
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
	random, moved := rand.New(rand.NewPCG(seed, 0)), 0
	for done := false; !done; {
		select {
		case <-written:
			done = true
		case <-time.After(5 * time.Millisecond):
			moved += w.freeRandomLease(random)
		}
	}
	for _, stop := range stops {
		stop()
	}
	t.Logf("leases moved %d times", moved)
	w.settle()
	w.wantViewsEqualSource()
}

// freeRandomLease removes the owner of a random lease. It returns the number of leases it
// changed, 0 or 1.
func (w *world) freeRandomLease(random *rand.Rand) int {
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

// The simulation with a projector that starts only after all writes, and is killed and replaced
// after random numbers of requests.
func TestSimulationWithCrashes(t *testing.T) {
	seed := testseed.Of(t)
	for _, ranges := range someOf(t, rangeCounts, 1) {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			simulate(w, seed, *operationsFlag)
			t.Logf("%d crashes", w.settleWithCrashes(rand.New(rand.NewPCG(seed, 0))))
			w.settle()
			w.wantViewsEqualSource()
		})
	}
}

// settleWithCrashes runs projectors that die after some requests each, until one finishes
// before that.
func (w *world) settleWithCrashes(random *rand.Rand) (crashes int) {
	for ; ; crashes++ {
		wire, s := w.wired()
		p := w.projector(s)
		wire.answerLost = random.IntN(2) == 0
		wire.left.Store(random.Int64N(500))
		if p.SettleForTests(w.Context()) == nil {
			return crashes
		}
	}
}

// simulate runs n operations of concurrent writers, each with its own random stream.
func simulate(w *world, seed uint64, n int) {
	w.Helper()
	const writers = 8
	pool := w.newPool()
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

// isRefusal reports whether an operation was refused because of its input: writers may refer to
// deleted items.
func isRefusal(err error) bool {
	switch blog.CodeOf(err) {
	case blog.NotFound, blog.BadUserInput, blog.TryAgain, blog.AccountHasUser, blog.DeletionUnderWay, blog.UsernameTaken:
		return true
	}
	return false
}
