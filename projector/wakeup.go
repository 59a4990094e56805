package projector

// wakeups are the channels by which readers wake the chores of their projector after they have
// recorded work. Each channel buffers one signal.
type wakeups struct{ sweeps, deletions, purges chan struct{} }

func newWakeups() wakeups {
	return wakeups{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)}
}

// wakeUp sends a signal unless the channel is nil or already holds one.
func wakeUp(channel chan<- struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// wokenBy returns the wake function of a chore's worker.
func wokenBy(channel <-chan struct{}) func() (<-chan struct{}, func()) {
	return func() (<-chan struct{}, func()) { return channel, func() {} }
}
