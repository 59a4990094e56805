package projector_test

import (
	"fmt"
	"slices"
	"time"

	"cosmosblog/store"
)

// happening is something that befalls the projectors in a storm, so many of a hundred times.
type happening struct {
	name   string
	chance int
	befall func(*storm)
}

var happenings = []happening{
	{"killed", 28, (*storm).kill},
	{"ended", 8, (*storm).finish},
	{"stopped for a while", 20, (*storm).halt},
	{"scripts refused", 6, (*storm).refuseScripts},
	{"begun", 10, (*storm).begin},
	{"lease taken away", 11, (*storm).takeAway},
	{"checkpoint set back", 11, (*storm).setBack},
	{"range split", 6, (*storm).splitOne},
}

// mostPeers is how many projectors there are at most.
const mostPeers = 4

// happen lets one thing happen.
func (s *storm) happen() {
	if len(s.peers) == 0 {
		s.launch()
	}
	roll := s.IntN(100)
	for _, h := range happenings {
		if roll -= h.chance; roll < 0 {
			s.journal[h.name]++
			h.befall(s)
			return
		}
	}
}

// kill lets a projector die after so many more requests, at the latest some seconds later. Often another takes its place,
// which knows nothing of it.
func (s *storm) kill() {
	p := s.leave()
	p.weather.dieAfter(s.IntN(150))
	wait := time.Duration(s.Int64N(int64(4 * time.Second)))
	s.ended.Go(func() {
		time.Sleep(wait)
		p.weather.dieAfter(0)
		p.cancel()
		<-p.done
	})
	if s.IntN(4) > 0 {
		s.launch()
	}
}

// finish lets a projector end in good order, as far as the weather lets it.
func (s *storm) finish() {
	p := s.leave()
	s.ended.Go(func() {
		p.cancel()
		<-p.done
	})
}

// halt stops a projector in the midst of its work, and lets it go on when its leases may have expired, or have not.
func (s *storm) halt() {
	goOn, learn := s.peers[s.IntN(len(s.peers))].weather.stop(s.IntN(20), s.IntN(2) == 0)
	wakes := time.Duration(s.Int64N(int64(time.Minute)))
	time.AfterFunc(wakes, goOn)
	time.AfterFunc(wakes+time.Duration(s.Int64N(int64(5*time.Second))), learn)
}

// refuseScripts has a projector's scripts refused for long enough that what needs them is set aside.
func (s *storm) refuseScripts() {
	s.peers[s.IntN(len(s.peers))].weather.refuseScripts(time.Duration(s.Int64N(int64(20 * time.Second))))
}

func (s *storm) begin() {
	if len(s.peers) < mostPeers {
		s.launch()
	}
}

// takeAway gives a lease to nobody, or to somebody who is not there.
func (s *storm) takeAway() {
	lease := s.randomLease()
	if lease.Owner = ""; s.IntN(3) == 0 {
		lease.Owner = "somebody else"
	}
	_, _ = s.store.SaveLease(s.Context(), lease) // its owner may be faster
}

// setBack lets a lease continue where it was once, as somebody does who wakes with what they read then.
func (s *storm) setBack() {
	lease := s.randomLease()
	past := s.past[lease.ID]
	if lease.Container == "" || len(past) == 0 {
		return
	}
	lease.Owner, lease.Continuation = "", past[s.IntN(len(past))]
	_, _ = s.store.SaveLease(s.Context(), lease)
}

// randomLease gives one of the leases, and notes of all how far they are.
func (s *storm) randomLease() store.Lease {
	s.Helper()
	leases, err := s.store.Leases(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if len(leases) == 0 {
		return store.Lease{}
	}
	for _, lease := range leases {
		if !slices.Contains(s.past[lease.ID], lease.Continuation) {
			s.past[lease.ID] = append(s.past[lease.ID], lease.Continuation)
		}
	}
	return leases[s.IntN(len(leases))]
}

// mostSplits is how often a container's ranges are split.
const mostSplits = 3

func (s *storm) splitOne() {
	container := []string{store.UsersContainer, store.PostsContainer}[s.IntN(2)]
	of := s.splits[container]
	if of.times == mostSplits {
		return
	}
	i := s.IntN(len(of.live))
	if err := s.engine.Split(store.DefaultDatabase, container, fmt.Sprint(of.live[i])); err != nil {
		s.Fatal(err)
	}
	of.live = append(slices.Delete(of.live, i, i+1), of.next, of.next+1)
	of.next += 2
	of.times++
}
