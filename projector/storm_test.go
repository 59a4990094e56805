package projector_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/internal/faults"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
	"cosmosblog/store/embedded/script"
)

var stepsFlag = flag.Int("steps", 1260, "how many operations TestStorm does, in worlds of 1260")

const (
	stepsOfWorld = 1260
	phases       = 7 // of a world, each of a mood
	stormWriters = 6

	// commandTime and what a request of a command takes at most are less than CommandDeadline together.
	commandTime = 6 * time.Second
)

// Several projectors in a storm, and writers of every kind. Requests are slow, refused, lost, late and sent twice; scripts
// are refused, and throughput is short; projectors are killed between any two requests, end, and are stopped until their
// leases are long somebody else's; leases are taken away and checkpoints set back; feed ranges are split. When the storm
// is over, and nobody does anything but the projectors that are left, every view comes to equal its source.
//
// Time passes only when everybody waits. A seed tells all that is drawn, and not who comes first of those who come at the
// same time.
func TestStorm(t *testing.T) {
	first := seed(t)
	for i := range uint64((*stepsFlag + stepsOfWorld - 1) / stepsOfWorld) {
		ok := t.Run(fmt.Sprint(first+i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStorm(t, first+i)
				writers := s.enter(s.pool())
				s.rage(writers)
				s.end(writers)
				s.subside()
				s.verify()
			})
		})
		if !ok {
			t.Fatalf("repeat with -run '^TestStorm$' -steps %d -seed %d", stepsOfWorld, first+i)
		}
	}
}

// storm is one world in which all goes wrong that may.
type storm struct {
	*world
	*rand.Rand
	seed    uint64
	way     policy.Transporter // of all requests, behind the weather
	raging  atomic.Bool
	splits  map[string]*splits  // by container
	past    map[string][]string // continuations, by lease
	peers   []*peer
	wakes   bool
	budget  int            // RU in a second; 0 for no limit
	ended   sync.WaitGroup // of peers that are on their way out
	journal map[string]int // what happened, and how often
}

// peer is one projector.
type peer struct {
	*projector.Projector
	owner   string
	weather *weather
	cancel  context.CancelFunc
	done    chan struct{}
}

// splits are the ids of a container's physical ranges.
type splits struct {
	live  []int
	next  int // the id that a split gives
	times int
}

// newStorm makes a world on one range where the seed is even, and on eight where it is odd.
func newStorm(t *testing.T, seed uint64) *storm {
	ranges := rangeCounts[seed%2]
	s := &storm{seed: seed, Rand: rand.New(rand.NewPCG(seed, 1)), splits: map[string]*splits{}, past: map[string][]string{},
		journal: map[string]int{}}
	s.world = newWorldOn(t, ranges, embedded.Options{
		QueriesSeeOwnWrites: s.IntN(2) == 0,
		Script:              script.Options{Accept: s.acceptor(rand.New(rand.NewPCG(seed, 2)))},
	})
	s.way, s.wakes = store.InProcess(s.engine), s.IntN(2) == 0
	if s.IntN(3) == 0 {
		s.budget = 200 + s.IntN(800)
		s.way = s.budgeted()
	}
	for _, container := range []string{store.UsersContainer, store.PostsContainer} {
		s.splits[container] = &splits{next: ranges}
		for id := range ranges {
			s.splits[container].live = append(s.splits[container].live, id)
		}
	}
	return s
}

// acceptor refuses some of the operations of scripts, as an account does that has no time for them.
func (s *storm) acceptor(random *rand.Rand) func(int) bool {
	var mu sync.Mutex
	return func(int) bool {
		mu.Lock()
		defer mu.Unlock()
		return !s.raging.Load() || random.IntN(100) > 0
	}
}

// budgeted is the way to the engine by which throughput is short while the storm rages.
func (s *storm) budgeted() policy.Transporter {
	engine := store.InProcess(s.engine)
	return whether{&s.raging, &faults.Budget{Next: engine, PerSecond: float64(s.budget), Now: time.Now}, engine}
}

// rage lets writers do the operations of a world amid all that may happen.
func (s *storm) rage(writers []*writer) {
	s.Helper()
	for range 1 + s.IntN(mostPeers) {
		s.launch()
	}
	moods := s.drawMoods()
	s.raging.Store(true)
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write(writers, moods, stepsOfWorld/phases)
	}()
	for raging := true; raging; {
		select {
		case <-written:
			raging = false
		case <-time.After(time.Duration(s.Int64N(int64(6 * time.Second)))):
			s.happen()
		}
	}
}

// drawMoods gives the mood of each phase but the last, which is the ending. First there come to be more posts than the feed
// keeps.
func (s *storm) drawMoods() []mood {
	moods := []mood{writing, writing}
	for range phases - 1 - len(moods) {
		moods = append(moods, []mood{everyday, writing, clearing, clearing, talking}[s.IntN(5)])
	}
	return moods
}

// pool gives writers some users to begin with.
func (s *storm) pool() *pool {
	s.Helper()
	pool := &pool{}
	for range 10 {
		pool.users = append(pool.users, s.user())
	}
	return pool
}

// enter makes as many writers as there are, each in weather of their own.
func (s *storm) enter(pool *pool) []*writer {
	var writers []*writer
	for i := range uint64(stormWriters) {
		weather, opened := s.open(ofWriters)
		writers = append(writers, &writer{world: s.world, pool: pool, Rand: rand.New(rand.NewPCG(s.seed, 100+i)), store: opened,
			weather: weather})
	}
	return writers
}

// open opens a Store while all is well, and then lets there be weather.
func (s *storm) open(c climate) (*weather, *store.Store) {
	s.Helper()
	weather := newWeather(store.InProcess(s.engine), rand.New(rand.NewPCG(s.Uint64(), 0)))
	opened := s.world.open(weather)
	weather.become(c, s.way)
	return weather, opened
}

// write has writers do n operations in each mood, each within the time that an API gives it. Whatever becomes of one may.
func (s *storm) write(writers []*writer, moods []mood, n int) {
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() {
			for _, mood := range moods {
				for range n / len(writers) {
					time.Sleep(time.Duration(w.Int64N(int64(2 * time.Second))))
					ctx, cancel := context.WithTimeout(s.Context(), commandTime)
					_, _ = w.write(ctx, mood)
					cancel()
				}
			}
		})
	}
	group.Wait()
}

// launch starts another projector.
func (s *storm) launch() {
	weather, opened := s.open(ofProjectors)
	p := &peer{weather: weather, done: make(chan struct{})}
	p.Projector = s.projector(opened, func(o *projector.Options) {
		o.TakeOver, o.Now, o.Sleep = false, weather.now, nil
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

// leave takes a random peer out of those that are there.
func (s *storm) leave() *peer {
	i := s.IntN(len(s.peers))
	p := s.peers[i]
	s.peers = append(s.peers[:i], s.peers[i+1:]...)
	return p
}
