package audit

import (
	"context"
	"slices"

	"cosmosblog/store/cosmos"
)

const (
	// maxSuspects is the number of suspects that are collected before they are compared again.
	maxSuspects = 1000

	// maxRecomparisons is the maximum number of times that a suspect is compared again. Only a suspect
	// whose source keeps changing needs as many.
	maxRecomparisons = 5
)

// suspect is a target that differed in its last comparison.
type suspect struct {
	target
	unconfirmed map[driftKey]string // the source states of the drifts that were seen once
	confirmed   map[driftKey]bool   // the drifts that were confirmed
}

func newSuspect(t target, drifts []Drift) suspect {
	s := suspect{t, nil, map[driftKey]bool{}}
	s.confirm(drifts)
	return s
}

// confirm records the drifts of another comparison. It returns the newly confirmed ones: they were
// seen before, and their source has not changed since. It also returns those that were seen before,
// but whose source keeps changing.
func (s *suspect) confirm(drifts []Drift) (confirmed, restless []Drift) {
	before := s.unconfirmed
	s.unconfirmed = map[driftKey]string{}
	for _, drift := range drifts {
		key := drift.key()
		state, ok := before[key]
		switch {
		case s.confirmed[key]:
		case ok && drift.sourceState != "" && drift.sourceState == state:
			s.confirmed[key] = true
			confirmed = append(confirmed, drift)
		default:
			s.unconfirmed[key] = drift.sourceState
			if ok {
				restless = append(restless, drift)
			}
		}
	}
	return confirmed, restless
}

// isResolved reports whether the last comparison left no unconfirmed drift.
func (s suspect) isResolved() bool { return len(s.unconfirmed) == 0 }

// resolveSuspects compares the suspects again until their drifts are confirmed or gone. It calls
// wait before each comparison. As in the first comparison, posts come before the users who have
// their copies. A drift that is corrected with the post is then not reported for the user again. It
// returns the suspects that are left: their sources keep changing.
func (a *auditRun) resolveSuspects(ctx context.Context, wait func(context.Context) error) (unstable []suspect, err error) {
	suspects := a.suspects
	a.suspects = nil
	for n := 0; n < maxRecomparisons && len(suspects) > 0; n++ {
		if err := wait(ctx); err != nil {
			return nil, err
		}
		for _, k := range kinds {
			if err := a.recompare(ctx, k.container, suspects); err != nil {
				return nil, err
			}
		}
		suspects = slices.DeleteFunc(suspects, suspect.isResolved)
	}
	a.result.Unstable += int64(len(suspects))
	return suspects, nil
}

// recompare compares the suspects of one container without caches, and reports the drifts that this
// confirms. It repairs them first, if the audit repairs.
func (a *auditRun) recompare(ctx context.Context, container string, suspects []suspect) error {
	return a.forEach(ctx, len(suspects), func(ctx context.Context, i int) error {
		s := &suspects[i]
		if s.container != container {
			return nil
		}
		drifts, err := a.compare(ctx, newComparer(a.database), s.target)
		if err != nil {
			return err
		}
		confirmed, _ := s.confirm(drifts)
		if len(confirmed) == 0 {
			return nil
		}
		left := confirmed
		if a.options.Repair {
			if left, err = a.repair(ctx, s.target, confirmed); err != nil {
				return err
			}
		}
		a.reportDrifts(confirmed, left)
		return nil
	})
}

// repair is Repair, and waits if the account throttles it.
func (a *auditRun) repair(ctx context.Context, t target, drifts []Drift) (left []Drift, err error) {
	return cosmos.Retried(ctx, a.db, func(ctx context.Context) ([]Drift, error) {
		return Repair(ctx, a.db, t.container, t.partition, drifts)
	})
}

// reportDrifts counts confirmed drifts and passes them to Options.Found. The drifts in left
// were not corrected.
func (a *auditRun) reportDrifts(drifts, left []Drift) {
	uncorrected := make(map[driftKey]bool, len(left))
	for _, drift := range left {
		uncorrected[drift.key()] = true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, drift := range drifts {
		corrected := !uncorrected[drift.key()]
		a.result.Drifts++
		if corrected {
			a.result.Corrected++
		}
		if a.options.Found != nil {
			a.options.Found(drift, corrected)
		}
	}
}
