package projector_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/cosmostest"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/schema"
)

var stepsFlag = flag.Int("steps", 210, "the number of operations of TestStorm, in worlds of at most 1260")

// stepsOfWorld returns the number of operations of one world.
func stepsOfWorld() int { return min(*stepsFlag, 1260) }

// laterSteps returns the number of operations of each phase after the first ones.
func laterSteps() int { return max(0, stepsOfWorld()-writingPhases*writingSteps) / laterPhases }

const (
	stormWriters = 6

	// A world has phases, each with its own workload. The first ones create more posts than the
	// feed keeps, whatever -steps is.
	writingPhases = 2
	laterPhases   = 5 // including moving and the ending
	writingSteps  = 180

	// commandTime plus the longest request of a command is less than SettleTime.
	commandTime = 6 * time.Second
)

// TestStorm runs several projectors and all kinds of writers, with faults and chaos events.
// Requests are slow, refused, lost, late and repeated. Scripts are refused, and throughput is
// short. In half of the worlds, a replica that lags behind answers most reads. In a third, scripts
// run under snapshot isolation, with pauses; a replica would execute each of them alone. Projectors
// are killed between any two requests, stopped, or suspended until long after their leases
// expired. Leases are freed, checkpoints are set back, and feed ranges are split. Accounts rename
// their users from two tabs, and return after their deletion. When the faults end and only the
// remaining projectors work, every view comes to equal its source.
//
// Time passes only while all goroutines wait. A seed determines all random choices, but not the
// order of concurrent goroutines.
func TestStorm(t *testing.T) {
	first := testseed.Of(t)
	for i := range uint64((*stepsFlag + stepsOfWorld() - 1) / stepsOfWorld()) {
		ok := t.Run(fmt.Sprint(first+i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStorm(t, first+i)
				writers := s.newWriters(s.newPool())
				s.runChaos(writers)
				s.end(writers)
				s.recover()
				s.verify()
			})
		})
		if !ok {
			t.Fatalf("repeat with %s=%d and -run '^TestStorm$' -steps %d", testseed.Variable, first+i, stepsOfWorld())
		}
	}
}

// storm is one world of TestStorm.
type storm struct {
	*world
	*rand.Rand
	seed          uint64
	database      policy.Transporter  // the engine, or its replica
	latest        policy.Transporter  // the engine's latest state
	replica       *cosmostest.Replica // nil without one
	transport     policy.Transporter  // of all requests, after the faults
	raging        atomic.Bool
	splits        map[string]*splits  // by container
	continuations map[string][]string // continuations, by lease
	peers         []*peer
	wakes         bool
	budget        int            // RU per second; 0 for no limit
	ended         sync.WaitGroup // for peers that are stopping
	eventCounts   map[string]int // counts of events
}

// peer is one projector.
type peer struct {
	*projector.Projector
	owner  string
	faults *faultyTransport
	cancel context.CancelFunc
	done   chan struct{}
}

// splits are the ids of a container's physical ranges.
type splits struct {
	live  []int
	next  int // the next id that a split assigns
	times int
}

// newStorm creates a world, on one feed range if the seed is even and on eight if it is odd. Half
// of the worlds have a replica.
func newStorm(t *testing.T, seed uint64) *storm {
	ranges := rangeCounts[seed%2]
	s := &storm{seed: seed, Rand: rand.New(rand.NewPCG(seed, 1)), splits: map[string]*splits{}, continuations: map[string][]string{},
		eventCounts: map[string]int{}}
	options := cosmostest.Options{Random: rand.New(rand.NewPCG(seed, 3)), Throughput: 400}
	options.Scripts.OwnWrites = s.IntN(2) == 0
	options.Scripts.Accept = s.acceptor(rand.New(rand.NewPCG(seed, 2)))
	options.Follower = s.IntN(2) == 0
	if !options.Follower && s.IntN(3) > 0 {
		options.Scripts.Snapshot = true
		options.Scripts.Before = s.interrupter(rand.New(rand.NewPCG(seed, 3)))
	}
	s.world = &world{TB: t, engine: cosmostest.New(t, options), clock: storetest.NewStillClock(time.Now())}
	storetest.CheckScripts(t, s.engine)
	s.database, s.latest, s.replica = s.engine, s.engine.Latest(), s.engine.Follower
	s.store = s.world.open(storetest.Divided(s.latest, ranges))
	s.transport, s.wakes = s.database, s.IntN(2) == 0
	if s.IntN(3) == 0 {
		s.budget = 200 + s.IntN(800)
		s.transport = s.budgeted()
	}
	s.transport = switchTransport{&s.raging, s.newUnforgotten(), s.transport}
	for _, container := range []string{schema.Users, schema.Posts} {
		s.splits[container] = &splits{next: ranges}
		for id := range ranges {
			s.splits[container].live = append(s.splits[container].live, id)
		}
	}
	return s
}

// acceptor refuses some operations of scripts, as the service does when a script runs out of
// time.
func (s *storm) acceptor(random *rand.Rand) func(int) bool {
	var mu sync.Mutex
	return func(int) bool {
		mu.Lock()
		defer mu.Unlock()
		return !s.raging.Load() || random.IntN(100) > 0
	}
}

// interrupter makes scripts pause between operations, so that other writes commit meanwhile.
func (s *storm) interrupter(random *rand.Rand) func(int) {
	var mu sync.Mutex
	return func(int) {
		mu.Lock()
		pause := time.Duration(random.Int64N(int64(40 * time.Millisecond)))
		mu.Unlock()
		if s.raging.Load() {
			time.Sleep(pause)
		}
	}
}

// budgeted returns a transport with little throughput during the faults.
func (s *storm) budgeted() policy.Transporter {
	return switchTransport{&s.raging, newBudgeted(s.database, float64(s.budget)), s.database}
}

// runChaos runs the writers' workloads beside faults and chaos events. The last workload has fewer
// events, so that deletions end in time for their accounts to return.
func (s *storm) runChaos(writers []*writer) {
	s.Helper()
	for range 1 + s.IntN(maxPeers) {
		s.launch()
	}
	workloads := s.drawWorkloads()
	s.raging.Store(true)
	s.trail()
	s.disturb(6*time.Second, func() {
		s.write(writers, slices.Repeat([]workload{writing}, writingPhases), writingSteps)
		s.write(writers, workloads, laterSteps())
	})
	s.disturb(20*time.Second, func() { s.write(writers, []workload{moving}, laterSteps()) })
}

// disturb triggers events after random times up to a maximum, until the work is done.
func (s *storm) disturb(most time.Duration, work func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(s.Int64N(int64(most)))):
			s.triggerEvent()
		}
	}
}

// drawWorkloads returns the workloads of the phases between the first ones and moving.
func (s *storm) drawWorkloads() (workloads []workload) {
	for range laterPhases - 2 {
		workloads = append(workloads, []workload{everyday, writing, clearing, clearing, talking}[s.IntN(5)])
	}
	return workloads
}

// newWriters creates the writers, each with its own faults.
func (s *storm) newWriters(pool *pool) []*writer {
	var writers []*writer
	for i := range uint64(stormWriters) {
		transport, opened := s.open(s.writerFaults())
		writers = append(writers, &writer{world: s.world, pool: pool, Rand: rand.New(rand.NewPCG(s.seed, 100+i)), store: opened,
			faults: transport})
	}
	return writers
}

// open opens a client without faults, and then enables the profile.
func (s *storm) open(profile faultProfile) (*faultyTransport, *storetest.Database) {
	s.Helper()
	transport := newFaultyTransport(s.latest, rand.New(rand.NewPCG(s.Uint64(), 0)))
	opened := s.world.open(transport)
	transport.setProfile(profile, s.transport)
	return transport, opened
}

// write runs n operations of each workload, each within commandTime. Operations may fail.
func (s *storm) write(writers []*writer, workloads []workload, n int) {
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() {
			for _, load := range workloads {
				for range n / len(writers) {
					time.Sleep(time.Duration(w.Int64N(int64(maxPause(load)))))
					ctx, cancel := context.WithTimeout(s.Context(), commandTime)
					_, _ = w.write(ctx, load)
					cancel()
				}
			}
		})
	}
	group.Wait()
}

// maxPause returns the longest pause between two operations of a writer.
func maxPause(load workload) time.Duration {
	if load == moving {
		return 6 * time.Second
	}
	return 2 * time.Second
}

// launch starts another projector.
func (s *storm) launch() {
	transport, opened := s.open(projectorFaults)
	p := &peer{faults: transport, done: make(chan struct{})}
	p.Projector = s.projector(opened, func(o *projector.Options) {
		o.TakeOver, o.Now, o.Sleep = false, transport.now, nil
		if s.wakes {
			o.Wake = s.wake
		}
		p.owner = o.Owner
	})
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		defer close(p.done)
		if err := p.Run(ctx); err != nil {
			s.Errorf("Run: %v", err)
		}
	}()
	s.peers = append(s.peers, p)
}

// removePeer removes a random peer from the list and returns it.
func (s *storm) removePeer() *peer {
	i := s.IntN(len(s.peers))
	p := s.peers[i]
	s.peers = append(s.peers[:i], s.peers[i+1:]...)
	return p
}
