package projector_test

import (
	"context"
	"fmt"
	"time"

	"cosmosblog/internal/blog"
)

// end ends the storm: of two seeds in a row so, of the next two in the other way, because a rename writes all views of its user anew,
// and heals what was wrong with them.
func (s *storm) end(writers []*writer) {
	s.Helper()
	if s.seed/2%2 == 0 {
		s.endEditing(writers)
	} else {
		s.endNaming(writers)
	}
}

// endingSteps are the operations of an ending.
const endingSteps = stepsOfWorld / phases * 2 / 3

// endEditing lets posts alone change at last, when the storm is over, few of them and each several times. Meanwhile the projectors are
// stopped, with what has come up behind them in their hands, and others take their leases. When those have projected the last state of everything, these
// go on with what they had read, and it takes a while until they learn that it is not theirs any more.
func (s *storm) endEditing(writers []*writer) {
	s.Helper()
	s.settleDown()
	stopped := s.peers
	s.peers = nil
	goOn := haltAll(stopped, func() int { return 0 })
	for _, w := range writers {
		w.weather.become(calm, s.way)
		w.pool.favour(20)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write(writers, []mood{editing}, endingSteps)
	}()
	pass(6 * time.Second)
	goOn()
	goOn = haltAll(stopped, func() int { return s.IntN(30) })
	s.launch()
	s.calm()
	pass(time.Second)
	for _, p := range stopped {
		s.rob(p)
	}
	pass(14 * time.Second)
	goOn()
	<-written
	s.peers = append(s.peers, stopped...)
}

// settleDown ends what befalls projectors, and gives them the time to have all leases again.
func (s *storm) settleDown() {
	s.Helper()
	s.raging.Store(false)
	s.calm()
	s.ended.Wait()
	pass(2 * time.Minute)
}

// haltAll stops projectors, each after some more requests, and gives what lets them go on.
func haltAll(peers []*peer, after func() int) (goOn func()) {
	var all []func()
	for _, p := range peers {
		over, learn := p.weather.stop(after(), true)
		all = append(all, over, func() { time.AfterFunc(4*time.Second, learn) })
	}
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// rob gives all leases of a projector to nobody.
func (s *storm) rob(p *peer) {
	s.Helper()
	leases, err := s.store.Leases(s.Context())
	s.must(err)
	for _, lease := range leases {
		if lease.Owner == p.owner {
			lease.Owner = ""
			_, _ = s.store.SaveLease(s.Context(), lease) // its owner may be faster
		}
	}
}

// endNaming renames everybody once when the storm is over, beside projectors that find the time for their work, each while
// something of theirs is on its way under their former name.
func (s *storm) endNaming(writers []*writer) {
	s.Helper()
	s.settleDown()
	for _, w := range writers {
		w.weather.become(ofTalkers, s.way)
	}
	for _, known := range writers[0].known() {
		user, err := s.store.User(s.Context(), known.ID)
		if isRefusal(err) {
			continue // was deleted
		}
		s.must(err)
		for i, say := range []func(*writer, context.Context, *blog.User) error{
			(*writer).createComment, (*writer).createComment, (*writer).like, (*writer).createPost,
		} {
			s.ended.Go(func() { _ = say(writers[i], s.Context(), user) }) // a post may be gone
		}
		pass(time.Millisecond)
		_, err = s.store.UpdateUser(s.Context(), user.ID, fmt.Sprintf("user%d", s.names.Add(1)))
		s.must(err)
		pass(time.Second)
	}
	s.ended.Wait()
}

func (s *storm) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
