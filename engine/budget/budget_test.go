package budget_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"cosmosblog/engine/budget"
)

// noon is the time at which these tests start. It is not the start of a second.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 250_000_000, time.UTC)

// step is a request at a time after noon.
type step struct {
	at     time.Duration
	wait   time.Duration // that Admit returns
	charge float64       // paid if the request is admitted
}

// TestAdmit sends requests to 10 RU/s.
func TestAdmit(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for name, steps := range map[string][]step{
		"within a second":              {{0, 0, 4}, {0, 0, 4}, {500 * ms, 0, 2}, {999 * ms, 1 * ms, 0}, {1 * s, 0, 0}},
		"anything left admits":         {{0, 0, 9.99}, {0, 0, 1}, {0, 1 * s, 0}},
		"nothing left refuses":         {{0, 0, 10}, {0, 1 * s, 0}},
		"an excess is paid later":      {{0, 0, 35}, {0, 3 * s, 0}, {2999 * ms, 1 * ms, 0}, {3 * s, 0, 5}, {3 * s, 1 * s, 0}},
		"an excess of whole seconds":   {{0, 0, 30}, {0, 3 * s, 0}, {2 * s, 1 * s, 0}, {3 * s, 0, 10}, {3 * s, 1 * s, 0}},
		"a rest expires":               {{0, 0, 1}, {1 * s, 0, 10}, {1 * s, 1 * s, 0}},
		"a rest of an hour expires":    {{0, 0, 1}, {time.Hour, 0, 10}, {time.Hour, 1 * s, 0}},
		"seconds begin at the first":   {{0, 0, 10}, {750 * ms, 250 * ms, 0}, {1 * s, 0, 10}, {1900 * ms, 100 * ms, 0}},
		"a refused request is free":    {{0, 0, 25}, {0, 2 * s, 0}, {0, 2 * s, 0}, {1 * s, 1 * s, 0}, {2 * s, 0, 0}},
		"a clock that was set back":    {{10 * s, 0, 10}, {9 * s, 2 * s, 0}, {11 * s, 0, 10}},
		"many requests of one instant": {{0, 0, 0}, {0, 0, 0}, {0, 0, 30}, {0, 3 * s, 0}},
	} {
		var a budget.Allowance
		for i, step := range steps {
			wait := a.Admit(budget.High, 10, noon.Add(step.at))
			if wait != step.wait {
				t.Errorf("%s: step %d: wait %v, want %v", name, i, wait, step.wait)
			}
			if wait == 0 {
				a.Pay(budget.High, step.charge)
			}
		}
	}
}

// TestLowPriority sends requests of both priorities to 10 RU/s.
func TestLowPriority(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	type step struct {
		priority budget.Priority
		at       time.Duration // after noon
		wait     time.Duration // that Admit returns
		charge   float64       // paid if the request is admitted
	}
	const high, low = budget.High, budget.Low
	for name, steps := range map[string][]step{
		"alone, all is for low priority":      {{low, 0, 0, 9.99}, {low, 0, 0, 1}, {low, 0, 1 * s, 0}, {high, 0, 1 * s, 0}},
		"an excess is paid later":             {{low, 0, 0, 35}, {low, 0, 3 * s, 0}, {low, 3 * s, 0, 0}},
		"what was used is kept":               {{high, 0, 0, 6}, {low, 1 * s, 0, 4}, {low, 1 * s, 1 * s, 0}, {high, 1 * s, 0, 6}},
		"what is kept can be used":            {{high, 0, 0, 6}, {low, 1 * s, 0, 1}, {high, 1 * s, 0, 6}, {low, 1 * s, 0, 3}, {low, 1 * s, 1 * s, 0}},
		"more than was used is best effort":   {{high, 0, 0, 6}, {low, 1 * s, 0, 4}, {high, 1 * s, 0, 6}, {high, 1 * s, 1 * s, 0}},
		"using all leaves nothing":            {{high, 0, 0, 10}, {low, 1 * s, 1 * s, 0}, {high, 1 * s, 0, 0}, {low, 2 * s, 0, 0}},
		"a refusal keeps the next second":     {{low, 0, 0, 10}, {high, 500 * ms, 500 * ms, 0}, {low, 1 * s, 1 * s, 0}, {high, 1 * s, 0, 6}, {low, 1900 * ms, 100 * ms, 0}, {low, 2 * s, 0, 4}, {low, 2 * s, 1 * s, 0}},
		"a refusal of low priority does not":  {{low, 0, 0, 10}, {low, 0, 1 * s, 0}, {low, 1 * s, 0, 0}},
		"nothing is kept after a pause":       {{high, 0, 0, 10}, {low, 2 * s, 0, 0}},
		"in the first second, first is first": {{high, 0, 0, 6}, {low, 0, 0, 4}, {high, 0, 1 * s, 0}},
	} {
		var a budget.Allowance
		for i, step := range steps {
			wait := a.Admit(step.priority, 10, noon.Add(step.at))
			if wait != step.wait {
				t.Errorf("%s: step %d: wait %v, want %v", name, i, wait, step.wait)
			}
			if wait == 0 {
				a.Pay(step.priority, step.charge)
			}
		}
	}
}

// TestWaitsAreExact checks that a request is admitted after its wait, and not before.
func TestWaitsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var a budget.Allowance
		perSecond := float64(1 + random.IntN(20_000))
		charge := perSecond * float64(random.IntN(100)) // exactly some seconds
		if random.IntN(2) == 0 {
			perSecond /= float64(1 + random.IntN(9)) // a share
			charge = float64(random.IntN(1_000_000)) / 100
		}
		a.Admit(budget.High, perSecond, noon)
		now := noon.Add(time.Duration(random.Int64N(int64(time.Minute))))
		if a.Admit(budget.High, perSecond, now) != 0 {
			t.Fatal("a full allowance refused")
		}
		a.Pay(budget.High, charge)
		wait := a.Admit(budget.High, perSecond, now)
		if wait == 0 {
			continue
		}
		before, after := a.Admit(budget.High, perSecond, now.Add(wait-1)), a.Admit(budget.High, perSecond, now.Add(wait))
		if before != 1 || after != 0 {
			t.Errorf("%v RU at %v RU/s: wait %v, just before its end %v, then %v", charge, perSecond, wait, before, after)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		0: "0", 1: "1", time.Millisecond: "1", time.Millisecond + 1: "2", 999*time.Millisecond + 999: "1000", time.Second: "1000", 90 * time.Second: "90000",
	} {
		if got := budget.RetryAfter(wait); got != want {
			t.Errorf("RetryAfter(%v) = %s, want %s", wait, got, want)
		}
	}
}

// TestAllowanceIsShared pays from several goroutines.
func TestAllowanceIsShared(t *testing.T) {
	var a budget.Allowance
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				a.Admit(budget.High, 10, noon)
				a.Pay(budget.High, 1)
			}
		})
	}
	all.Wait()
	if wait := a.Admit(budget.High, 10, noon); wait != 80*time.Second {
		t.Errorf("after 800 RU of 10 RU/s: wait %v", wait)
	}
}
