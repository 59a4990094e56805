package cosmostest

import "sync"

// decisions are the outcomes of the leader's operations of scripts. The follower repeats them in
// the same order, because writes run one after the other.
type decisions struct {
	mu       sync.Mutex
	accepted []bool
	failed   []int
}

// recorded returns the hooks of the leader: those of the test, which it records if there is a
// follower.
func (d *decisions) recorded(hooks Scripts, follower bool) Scripts {
	if !follower {
		return hooks
	}
	if accept := hooks.Accept; accept != nil {
		hooks.Accept = func(n int) bool { return push(d, &d.accepted, accept(n)) }
	}
	if fail := hooks.Fail; fail != nil {
		hooks.Fail = func(n int) int { return push(d, &d.failed, fail(n)) }
	}
	return hooks
}

// repeated returns the hooks of the follower.
func (d *decisions) repeated(hooks Scripts) Scripts {
	hooks.Before = nil
	if hooks.Accept != nil {
		hooks.Accept = func(int) bool { return pop(d, &d.accepted) }
	}
	if hooks.Fail != nil {
		hooks.Fail = func(int) int { return pop(d, &d.failed) }
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
