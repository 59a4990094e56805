package projector_test

import "time"

// A replica answers most of the reads of writers and projectors, change feeds included, and lags by
// random times. The test itself reads the latest state.

// maxTrail is the longest lag of a replica. A command may begin with a username that is as old, and
// the query of a sweep may miss items that are as new. So the requests of writers are faster by
// twice that time, and all commands are still visible after SettleTime.
const maxTrail = 2 * time.Second

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
