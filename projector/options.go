package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cosmosblog/store"
)

// Options says for whom a projector works, and injects what tests hold still. Store and Owner are required.
type Options struct {
	Store *store.Store
	// Owner names this projector in its leases. No two that run at the same time may have one name.
	Owner string
	// TakeOver takes every lease at once, whoever has it: for the process that owns a data folder, and so knows that the
	// owners its leases name are gone.
	TakeOver bool
	// Temporary takes what is free and steals nothing: for a process that ends soon.
	Temporary bool

	// Wake gives a channel that is signalled after writes to a container, and a function that ends that. Where it is nil,
	// a projector looks for changes every Poll; otherwise it does so as well.
	Wake func(container string) (<-chan struct{}, func())

	Poll time.Duration // between two looks at a feed that had nothing new; 1 s where 0
	// Gather is how long changes are gathered before the look at the feed, after a signal and after a look that found all
	// there was: what changes often in it is written once. 10 ms where 0; 100 ms where Wake is nil, too.
	Gather time.Duration
	// Every Renew a lease is renewed, and every Balance the others are looked at; 5 s each where 0. One that did not change
	// for Expire is anybody's; 20 s where 0, and always more than twice Renew.
	Renew, Expire, Balance time.Duration
	// CommandDeadline is the time in which every command ends after it has read its user's name. The last sweep of a
	// rename begins that much after the first. 15 s where 0.
	CommandDeadline time.Duration

	PageSize int // changes read at a time; 100 where 0
	Parallel int // changes projected at a time; 8 where 0

	Now    func() time.Time                                 // time.Now where nil: its monotonic clock is what counts
	Sleep  func(ctx context.Context, d time.Duration) error // before a failed change is tried again; a timer where nil
	Logger *slog.Logger                                     // slog.Default() where nil
}

func (o Options) withDefaults() (Options, error) {
	if o.Store == nil || o.Owner == "" {
		return o, errors.New("projector: Options need a Store and an Owner")
	}
	setDefault(&o.Poll, time.Second)
	if o.Wake == nil {
		setDefault(&o.Gather, 100*time.Millisecond)
	}
	setDefault(&o.Gather, 10*time.Millisecond)
	setDefault(&o.Renew, 5*time.Second)
	setDefault(&o.Expire, 20*time.Second)
	setDefault(&o.Balance, 5*time.Second)
	setDefault(&o.CommandDeadline, 15*time.Second)
	setDefault(&o.PageSize, 100)
	setDefault(&o.Parallel, 8)
	if o.Expire <= 2*o.Renew {
		return o, fmt.Errorf("projector: leases that are renewed every %v must not expire after %v already", o.Renew, o.Expire)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
