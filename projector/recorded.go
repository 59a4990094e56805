package projector

// recorded are the channels that the readers of a projector signal when they recorded something for its chores to do. Each
// holds one signal.
type recorded struct{ sweeps, deletions, purges chan struct{} }

func newRecorded() recorded {
	return recorded{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)}
}

// signal leaves a signal in a channel, where there is one that has none.
func signal(channel chan<- struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// wakenBy is the wake of a chore: a channel that this projector's own readers signal when they recorded something to do.
func wakenBy(recorded <-chan struct{}) func() (<-chan struct{}, func()) {
	return func() (<-chan struct{}, func()) { return recorded, func() {} }
}
