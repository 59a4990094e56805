package projector_test

import (
	"math/rand/v2"
	"sync"
	"time"

	"cosmosblog/internal/engine"
	"cosmosblog/internal/proof/faultstest"
	"cosmosblog/internal/proof/storetest"
	"cosmosblog/store/cosmos"
)

// maxTrail is the longest lag of a replica. A command may begin with a username that is as old, and
// the query of a sweep may miss items that are as new. So the requests of writers are faster by
// twice that time, and all commands are still visible after SettleTime.
const maxTrail = 2 * time.Second

// addReplica adds a follower that answers most of the reads of writers and projectors, change feeds
// included, and lags by random times. The test itself reads the latest state.
func (s *storm) addReplica(options engine.Options, decisions *decisions) {
	s.Helper()
	clock := new(faultstest.Clock)
	options.Key, options.Now, options.Script.Accept = s.engine.Key(), clock.Now, decisions.repeat
	s.follower = storetest.OpenEngine(s, options)
	s.replica = faultstest.NewReplicaAt(s.engine, s.follower, clock, rand.New(rand.NewPCG(s.seed, 3)))
	s.database, s.latest = cosmos.InProcess(s.replica), cosmos.InProcess(s.replica.Latest())
}

// trail makes the replica lag, if there is one.
func (s *storm) trail() {
	if s.replica != nil {
		s.replica.Trail(maxTrail)
	}
}

// catchUp ends the lag of the replica, and checks that it has gone through the same states.
func (s *storm) catchUp() {
	s.Helper()
	if s.replica == nil {
		return
	}
	s.replica.CatchUp()
	if diverged := s.replica.Diverged(); diverged != "" {
		s.Error(diverged)
	}
}

// writerFaults returns the faults of writers.
func (s *storm) writerFaults() faultProfile {
	profile := writerFaults
	if s.replica != nil {
		profile.maxLatency -= 2 * maxTrail
		profile.maxDelay -= 2 * maxTrail
	}
	return profile
}

// split divides a feed range. A new range begins with the same state on all replicas, so the
// follower catches up first.
func (s *storm) split(container string, id int) {
	s.Helper()
	if s.replica == nil {
		s.world.split(container, id)
		return
	}
	s.replica.Together(func() {
		s.world.split(container, id)
		(&world{TB: s.TB, engine: s.follower}).split(container, id)
	})
}

// decisions are the outcomes of a leader's operations of scripts. The follower repeats them.
type decisions struct {
	mu       sync.Mutex
	accepted []bool
}

// record returns accept, and records what it returns.
func (d *decisions) record(accept func(int) bool) func(int) bool {
	return func(operation int) bool {
		accepted := accept(operation)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.accepted = append(d.accepted, accepted)
		return accepted
	}
}

func (d *decisions) repeat(int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	accepted := d.accepted[0]
	d.accepted = d.accepted[1:]
	return accepted
}
