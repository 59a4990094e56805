package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// victim is a process that is killed and restarted, or paused and resumed, at random times.
type victim struct {
	name        string
	start       func(ctx context.Context) (*daemon, error)
	killed      func(begun time.Time) // called after each kill, which began at a time; may be nil
	killShare   float64               // of the disturbances, from 0 to 1; the others are pauses
	quiet       span                  // the time between two disturbances
	disruption  span                  // the length of a pause, or the time before a restart
	random      *rand.Rand
	isCalmLater bool // whether only the first half of a round of contract disturbs the process

	running       *daemon
	kills, pauses int
}

// span is a range of times, of which one is chosen at random.
type span struct{ least, most time.Duration }

func (s span) draw(random *rand.Rand) time.Duration {
	return s.least + time.Duration(random.Int64N(int64(s.most-s.least)))
}

// restartTimeout is the time within which a killed process must run again. A process that starts
// while the engine is down may end with an error, and is then started again.
const restartTimeout = 20 * time.Second

// disturb kills and pauses the process until ctx is done. Afterwards, it runs.
func (v *victim) disturb(ctx context.Context) error {
	for wait(ctx, v.quiet.draw(v.random)) {
		disturb := v.pause
		if v.random.Float64() < v.killShare {
			disturb = v.kill
		}
		if err := disturb(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	return nil
}

func (v *victim) pause(ctx context.Context) error {
	if err := v.running.pause(); err != nil {
		return err
	}
	v.pauses++
	wait(ctx, v.disruption.draw(v.random))
	return v.running.resume()
}

func (v *victim) kill(ctx context.Context) error {
	begun := time.Now()
	if err := v.running.kill(); err != nil {
		return err
	}
	v.kills++
	if v.killed != nil {
		v.killed(begun)
	}
	wait(ctx, v.disruption.draw(v.random))
	for begun = time.Now(); ; {
		restarted, err := v.start(ctx)
		if err == nil {
			v.running = restarted
			return nil
		}
		if time.Since(begun) > restartTimeout {
			return err
		}
		wait(ctx, 100*time.Millisecond)
	}
}
