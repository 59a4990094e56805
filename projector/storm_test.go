package projector_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// Projectors die, end, join, and have ranges split under them while others write. In the end each range has one lease,
// the living have as many each, and every view equals its source.
func TestProjectorsDieEndAndJoin(t *testing.T) {
	seed := seed(t)
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &storm{world: newWorldOf(t, ranges), Rand: rand.New(rand.NewPCG(seed, uint64(ranges))),
					ranges: map[string]int{store.UsersContainer: ranges, store.PostsContainer: ranges}}
				s.join()
				for n := range uint64(40) {
					s.happen()
					simulate(s.world, seed+n, 16)
					pass(time.Duration(s.Int64N(int64(balance))))
				}
				s.calm()
			})
		})
	}
}

// storm is a world in which projectors come and go.
type storm struct {
	*world
	*rand.Rand
	living, dead []*member
	ranges       map[string]int // how many each container has
	splits       int
}

func (s *storm) join() {
	s.living = append(s.living, s.members(1, func(o *projector.Options) { o.Wake, o.Poll = s.wake, time.Second })...)
}

// leave takes one of the living away, where it is not the last one.
func (s *storm) leave() (m *member, ok bool) {
	if len(s.living) < 2 {
		return nil, false
	}
	i := s.IntN(len(s.living))
	m = s.living[i]
	s.living = slices.Delete(s.living, i, i+1)
	return m, true
}

func (s *storm) happen() {
	switch s.IntN(7) {
	case 0, 1, 6:
		s.join()
	case 2:
		if m, ok := s.leave(); ok {
			m.stop()
		}
	case 3, 4:
		if m, ok := s.leave(); ok { // after some more requests, in the middle of whatever
			m.wire.left.Store(s.Int64N(50))
			s.dead = append(s.dead, m)
		}
	case 5:
		s.splitAny()
	}
}

// splitAny splits a range of users or posts that was not split before: of n ranges, the first have the ids below n.
func (s *storm) splitAny() {
	container := []string{store.UsersContainer, store.PostsContainer}[s.IntN(2)]
	for id := range 2 * s.ranges[container] {
		if s.engine.Split(store.DefaultDatabase, container, fmt.Sprint(id)) == nil {
			s.ranges[container]++
			s.splits++
			return
		}
	}
}

// calm lets everything come to rest, and looks at it.
func (s *storm) calm() {
	s.Helper()
	pass(2*expire + time.Duration(sum(s.ranges)+2)*balance)
	for container, n := range s.ranges {
		s.isDividedInto(container, n)
	}
	if shares := s.shares(); len(shares) != min(len(s.living), sum(s.ranges)+2) || shares[len(shares)-1]-shares[0] > 1 {
		s.Errorf("%d projectors share as %v", len(s.living), shares)
	}
	s.check()
	s.Logf("%d projectors live, %d died, %d ranges were split", len(s.living), len(s.dead), s.splits)
	for _, m := range slices.Concat(s.living, s.dead) {
		m.stop()
	}
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}
