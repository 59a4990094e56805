package projector_test

import (
	"slices"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// chaosEvent is an event that affects the projectors in a storm, with its probability in
// percent.
type chaosEvent struct {
	name    string
	chance  int
	trigger func(*storm)
}

var chaosEvents = []chaosEvent{
	{"killed", 28, (*storm).kill},
	{"stopped", 8, (*storm).finish},
	{"suspended", 20, (*storm).suspend},
	{"scripts refused", 6, (*storm).refuseScripts},
	{"launched", 10, (*storm).launchAnother},
	{"lease freed", 11, (*storm).takeAway},
	{"checkpoint set back", 11, (*storm).setBack},
	{"range split", 6, (*storm).splitOne},
}

// maxPeers limits the number of projectors.
const maxPeers = 4

// triggerEvent triggers one random event.
func (s *storm) triggerEvent() {
	if len(s.peers) == 0 {
		s.launch()
	}
	roll := s.IntN(100)
	for _, h := range chaosEvents {
		if roll -= h.chance; roll < 0 {
			s.eventCounts[h.name]++
			h.trigger(s)
			return
		}
	}
}

// kill kills a projector after some more requests, or after some seconds at the latest. Often a
// new one takes its place, without its state.
func (s *storm) kill() {
	p := s.removePeer()
	p.faults.dieAfter(s.IntN(150))
	wait := time.Duration(s.Int64N(int64(4 * time.Second)))
	s.ended.Go(func() {
		time.Sleep(wait)
		p.faults.dieAfter(0)
		p.cancel()
		<-p.done
	})
	if s.IntN(4) > 0 {
		s.launch()
	}
}

// finish stops a projector regularly, as far as the faults allow.
func (s *storm) finish() {
	p := s.removePeer()
	s.ended.Go(func() {
		p.cancel()
		<-p.done
	})
}

// suspend suspends a projector during its work and resumes it later, when its leases may have
// expired or not.
func (s *storm) suspend() {
	resume, openLeases := s.peers[s.IntN(len(s.peers))].faults.suspend(s.IntN(20), s.IntN(2) == 0)
	wait := time.Duration(s.Int64N(int64(time.Minute)))
	time.AfterFunc(wait, resume)
	time.AfterFunc(wait+time.Duration(s.Int64N(int64(5*time.Second))), openLeases)
}

// refuseScripts refuses the scripts of a projector for long enough that changes that need them
// are set aside.
func (s *storm) refuseScripts() {
	s.peers[s.IntN(len(s.peers))].faults.refuseScripts(time.Duration(s.Int64N(int64(20 * time.Second))))
}

func (s *storm) launchAnother() {
	if len(s.peers) < maxPeers {
		s.launch()
	}
}

// takeAway frees a lease, or gives it to an owner that does not exist.
func (s *storm) takeAway() {
	lease := s.randomLease()
	if lease.Owner = ""; s.IntN(3) == 0 {
		lease.Owner = "another"
	}
	_, _ = s.store.SaveLease(s.Context(), lease) // fails if the owner renews the lease first
}

// setBack sets a lease back to an earlier continuation, as a projector does that resumes with
// an old page.
func (s *storm) setBack() {
	lease := s.randomLease()
	earlier := s.continuations[lease.ID]
	if lease.Container == "" || len(earlier) == 0 {
		return
	}
	lease.Owner, lease.Continuation = "", earlier[s.IntN(len(earlier))]
	_, _ = s.store.SaveLease(s.Context(), lease)
}

// randomLease returns a random lease, and records the continuations of all.
func (s *storm) randomLease() changefeed.Lease {
	s.Helper()
	leases, err := s.store.Leases(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if len(leases) == 0 {
		return changefeed.Lease{}
	}
	for _, lease := range leases {
		if !slices.Contains(s.continuations[lease.ID], lease.Continuation) {
			s.continuations[lease.ID] = append(s.continuations[lease.ID], lease.Continuation)
		}
	}
	return leases[s.IntN(len(leases))]
}

// maxSplits limits the splits of a container's feed ranges.
const maxSplits = 3

func (s *storm) splitOne() {
	container := []string{schema.Users, schema.Posts}[s.IntN(2)]
	of := s.splits[container]
	if of.times == maxSplits {
		return
	}
	i := s.IntN(len(of.live))
	s.split(container, of.live[i])
	of.live = append(slices.Delete(of.live, i, i+1), of.next, of.next+1)
	of.next += 2
	of.times++
}
