package projector_test

import (
	"context"
	"strings"
	"time"

	"cosmosblog/projector"
)

// stopFaults ends all faults of the projectors' requests, and launches a projector if there is
// none.
func (s *storm) stopFaults() {
	s.Helper()
	for _, p := range s.peers {
		p.faults.setProfile(noFaults, s.transport)
	}
	if len(s.peers) == 0 {
		s.launch()
		s.peers[0].faults.setProfile(noFaults, s.transport)
	}
}

// recover gives the remaining projectors time to finish: for late requests, the leases of dead
// projectors, and the last passes of sweeps and deletions. Then it retries the dead letters.
func (s *storm) recover() {
	s.Helper()
	s.ended.Wait()
	s.catchUp()
	advanceTime(3 * time.Minute)
	s.finishWork()
	letters := s.letters()
	for _, letter := range letters {
		if err := projector.Retry(s.Context(), s.store.DB, letter); err != nil {
			s.Errorf("%+v: %v", letter, err)
		}
	}
	advanceTime(time.Minute)
	s.finishWork()
	stale := 0
	if s.replica != nil {
		stale = s.replica.Stale()
	}
	s.Logf("%d RU/s, woken %t, %d set aside, %d stale reads, %v", s.budget, s.wakes, len(letters), stale, s.eventCounts)
}

// finishWork waits while renames, deletions or purges are pending, at most half an hour: the
// account has 400 RU/s for each container.
func (s *storm) finishWork() {
	s.Helper()
	for range 30 {
		sweeps, err := s.store.Sweeps(s.Context())
		s.must(err)
		deletions, err := s.store.Deletions(s.Context())
		s.must(err)
		purges, err := s.store.Purges(s.Context(), 1)
		s.must(err)
		if len(sweeps)+len(deletions)+len(purges) == 0 {
			return
		}
		advanceTime(time.Minute)
	}
}

// verify compares all views with their source, by an audit and by a comparison, while the
// projectors run. Then it stops them.
func (s *storm) verify() {
	s.Helper()
	drifts, audited := s.audit(func(a *auditing) {
		a.Sleep = func(_ context.Context, d time.Duration) error { advanceTime(d); return nil }
	})
	if len(drifts) != 0 || audited.Unstable != 0 || audited.Stalled {
		s.Errorf("%+v: %s", audited, strings.Join(drifts[:min(10, len(drifts))], "; "))
	}
	s.wantViewsEqualSource()
	for container, splits := range s.splits {
		s.wantLeases(container, len(splits.live))
	}
	shares := s.loads()
	if len(shares) != len(s.peers) || shares[len(shares)-1]-shares[0] > 1 {
		s.Errorf("%d projectors have %v leases", len(s.peers), shares)
	}
	for _, p := range s.peers {
		p.cancel()
		<-p.done
	}
}
