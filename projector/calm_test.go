package projector_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// calm lets what the projectors ask for be done, and sees to it that there is one.
func (s *storm) calm() {
	s.Helper()
	for _, p := range s.peers {
		p.weather.become(calm, s.way)
	}
	if len(s.peers) == 0 {
		s.launch()
		s.peers[0].weather.become(calm, s.way)
	}
}

// subside gives the projectors that are left the time that they need: for what is still under way, for the leases of the dead,
// and for the last passes of sweeps and deletions. What was set aside is tried again.
func (s *storm) subside() {
	s.Helper()
	s.ended.Wait()
	pass(3 * time.Minute)
	letters := s.letters()
	for _, letter := range letters {
		if err := projector.Retry(s.Context(), s.store, letter); err != nil {
			s.Errorf("%+v: %v", letter, err)
		}
	}
	pass(time.Minute)
	s.Logf("%d RU/s, woken %t, %d set aside, %v", s.budget, s.wakes, len(letters), s.journal)
}

// isLeftover tells of a drift that nobody sees, and that no projector has to do with: a username that its user never came to
// bear, because the command that wanted it was given up. The next one who wants it gets it.
func isLeftover(drift string) bool { return strings.HasPrefix(drift, string(store.DriftReclaimable)) }

// verify holds everything to its source, in two ways, while the projectors run; then they end.
func (s *storm) verify() {
	s.Helper()
	drifts, audited := s.audit(func(a *store.Auditing) {
		a.Sleep = func(_ context.Context, d time.Duration) error { pass(d); return nil }
	})
	drifts = slices.DeleteFunc(drifts, isLeftover)
	if len(drifts) != 0 || audited.Restless != 0 || audited.Stalled {
		s.Errorf("%+v: %s", audited, strings.Join(drifts[:min(10, len(drifts))], "; "))
	}
	s.check()
	for container, splits := range s.splits {
		s.isDividedInto(container, len(splits.live))
	}
	shares := s.shares()
	if len(shares) != len(s.peers) || shares[len(shares)-1]-shares[0] > 1 {
		s.Errorf("%d projectors share as %v", len(s.peers), shares)
	}
	for _, p := range s.peers {
		p.cancel()
		<-p.done
	}
}
