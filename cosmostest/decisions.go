package cosmostest

import "sync"

// decisions are the outcomes of the operations of one write's scripts: those of the leader, or
// those that the follower is to repeat in the same order. Writes run one after the other.
type decisions struct {
	mu     sync.Mutex
	ended  bool // the follower has taken the leader's place, and repeats none
	choice choices
}

// choices are the outcomes of the operations of scripts, by the hook that decided them.
type choices struct {
	accepted []bool
	failed   []int
}

// take removes and returns all outcomes: those of a write of the leader.
func (d *decisions) take() choices {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.choice
	d.choice = choices{}
	return taken
}

// give sets the outcomes that the follower's next write repeats.
func (d *decisions) give(c choices) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.choice = c
}

// end makes the follower ask the test's hooks from now on.
func (d *decisions) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended, d.choice = true, choices{}
}

func (d *decisions) hasEnded() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// recorded returns the hooks of the leader: those of the test, which it records if there is a
// follower.
func (d *decisions) recorded(hooks Scripts, follower bool) Scripts {
	if !follower {
		return hooks
	}
	if accept := hooks.Accept; accept != nil {
		hooks.Accept = func(n int) bool { return push(d, &d.choice.accepted, accept(n)) }
	}
	if fail := hooks.Fail; fail != nil {
		hooks.Fail = func(n int) int { return push(d, &d.choice.failed, fail(n)) }
	}
	return hooks
}

// repeated returns the hooks of the follower: it repeats what the leader recorded, and asks the
// hooks of the test after end.
func (d *decisions) repeated(hooks Scripts) Scripts {
	if before := hooks.Before; before != nil {
		hooks.Before = func(n int) {
			if d.hasEnded() {
				before(n)
			}
		}
	}
	if accept := hooks.Accept; accept != nil {
		hooks.Accept = func(n int) bool {
			if d.hasEnded() {
				return accept(n)
			}
			return pop(d, &d.choice.accepted)
		}
	}
	if fail := hooks.Fail; fail != nil {
		hooks.Fail = func(n int) int {
			if d.hasEnded() {
				return fail(n)
			}
			return pop(d, &d.choice.failed)
		}
	}
	return hooks
}

func push[T any](d *decisions, list *[]T, decision T) T {
	d.mu.Lock()
	defer d.mu.Unlock()
	*list = append(*list, decision)
	return decision
}

// pop returns the next decision. There is one, unless the follower runs another script than the
// leader did; its response then differs, too.
func pop[T any](d *decisions, list *[]T) (next T) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(*list) == 0 {
		return next
	}
	next, *list = (*list)[0], (*list)[1:]
	return next
}
