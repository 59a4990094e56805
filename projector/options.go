package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cosmosblog/store"
	"cosmosblog/store/cosmos"
)

// Options configure a Projector. DB and Owner are required.
type Options struct {
	DB *cosmos.DB
	// Owner is the projector's name in its leases. Projectors that run at the same time must have
	// different names.
	Owner string
	// TakeOver takes every lease at once, whoever owns it. It is for the process that has locked a
	// data folder: the previous owners of its leases cannot be running.
	TakeOver bool
	// Temporary takes free leases only, and none from other projectors. It is for a process that ends
	// soon.
	Temporary bool

	// Wake returns a channel that receives a signal after writes to a container, and a function
	// that stops the signals. If it is nil, changes are found by polling only; otherwise by both.
	Wake func(container string) (<-chan struct{}, func())

	// Rebuild rebuilds all views (audit.Rebuild). The projector calls it after the database went back
	// to an earlier state, with the name of the history that has begun, and again if it fails. If it
	// is nil, another projector must do that.
	Rebuild func(ctx context.Context, history string) error

	// Poll is the interval between steps that found nothing to do: reads of a feed without new
	// changes, and listings of a chore's tasks, which are rarer while there are none. Default: 1 s.
	// docs/azure.md has its cost.
	Poll time.Duration
	// BusyPoll is Poll for posts until ten seconds after their last change: clients wait for the next
	// ones. Default: Poll.
	BusyPoll time.Duration
	// Gather delays the read of a feed after a signal, and after a read that reached its end.
	// Changes of one item in that time are written to the views once. Default: 10 ms.
	Gather time.Duration

	// Expire is the time without a heartbeat after which any projector may take a lease. Default:
	// 20 s.
	Expire time.Duration
	// Renew is the interval of heartbeats, which keep the leases valid. It must be less than half of
	// Expire. Default: a quarter of it, so that a lease outlives two failed heartbeats.
	Renew time.Duration
	// Balance is the interval at which all leases are listed and rebalanced, at most half of Expire. A
	// projector that is alone lists them half as often. Default: a quarter of Expire.
	Balance time.Duration
	// SettleTime is the time after which no command writes a former username any more. The last pass
	// of a sweep or deletion starts that long after the one before. Default: store.SettleTime.
	SettleTime time.Duration

	PageSize int // changes per read of a feed; default: 100
	Parallel int // changes projected at a time; default: 8

	// Tests replace the following.
	Now    func() time.Time                                 // default: time.Now (monotonic)
	Sleep  func(ctx context.Context, d time.Duration) error // before retries; default: a timer
	Logger *slog.Logger                                     // default: slog.Default()
}

func (o Options) withDefaults() (Options, error) {
	if o.DB == nil || o.Owner == "" {
		return o, errors.New("projector: Options.DB and Options.Owner are required")
	}
	setDefault(&o.Poll, time.Second)
	setDefault(&o.BusyPoll, o.Poll)
	setDefault(&o.Gather, 10*time.Millisecond)
	setDefault(&o.Expire, 20*time.Second)
	setDefault(&o.Renew, o.Expire/4)
	setDefault(&o.Balance, o.Expire/4)
	setDefault(&o.SettleTime, store.SettleTime)
	setDefault(&o.PageSize, 100)
	setDefault(&o.Parallel, 8)
	if o.Expire <= 2*o.Renew {
		return o, fmt.Errorf("projector: Options.Expire (%v) must be more than twice Options.Renew (%v)",
			o.Expire, o.Renew)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = cosmos.Sleep
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

// writeTimeout is the time limit of a heartbeat, and of the write of a lease. It leaves time for
// another attempt before the leases expire.
func (o Options) writeTimeout() time.Duration { return max(o.Renew, o.Expire/4) }

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}
