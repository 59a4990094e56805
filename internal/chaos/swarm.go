package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// The periods of the projectors' leases: as short as may be, so that much happens in a minute.
const (
	leaseRenew   = 300 * time.Millisecond
	leaseExpire  = 1500 * time.Millisecond
	leaseBalance = 300 * time.Millisecond
)

// swarm is some projectors, of which the last is stopped and goes on, again and again, and the others are killed and
// started anew.
type swarm struct {
	start      func(ctx context.Context, i int) (*daemon, error)
	random     *rand.Rand
	projectors []*daemon
	kills      int
	halts      int
}

// projectorCount is how many projectors a swarm has.
const projectorCount = 3

var works = regexp.MustCompile(`^The projector works on (.*)`)

func newSwarm(ctx context.Context, p program, environment []string, seed uint64) (*swarm, error) {
	s := &swarm{random: rand.New(rand.NewPCG(seed, 1))}
	s.start = func(ctx context.Context, i int) (*daemon, error) {
		return p.daemon(ctx, fmt.Sprintf("projector-%d.log", i), environment, works, "projector", "--lease-renew", leaseRenew.String(),
			"--lease-expire", leaseExpire.String(), "--lease-balance", leaseBalance.String())
	}
	for i := range projectorCount {
		d, err := s.start(ctx, i)
		if err != nil {
			return s, errors.Join(err, s.end())
		}
		s.projectors = append(s.projectors, d)
	}
	return s, nil
}

// harass kills and stops until ctx is done. At the end all run.
func (s *swarm) harass(ctx context.Context) error {
	var group sync.WaitGroup
	var killing, halting error
	random := rand.New(rand.NewPCG(s.random.Uint64(), 2))
	group.Go(func() { killing = s.kill(ctx) })
	group.Go(func() { halting = s.halt(ctx, random) })
	group.Wait()
	return errors.Join(killing, halting)
}

// kill kills one of the first projectors every second or so, and starts it anew, as soon as another one has had time to
// take its leases, or sooner.
func (s *swarm) kill(ctx context.Context) error {
	for wait(ctx, time.Duration(s.random.Int64N(int64(time.Second)))) {
		i := s.random.IntN(projectorCount - 1)
		if err := s.projectors[i].kill(); err != nil {
			return fmt.Errorf("projector %d: %w", i, err)
		}
		s.kills++
		time.Sleep(time.Duration(s.random.Int64N(int64(leaseExpire))) / 2)
		anew, err := s.start(context.WithoutCancel(ctx), i)
		if err != nil {
			return err
		}
		s.projectors[i] = anew
	}
	return nil
}

// halt stops the last projector for so long that its leases are somebody else's when it goes on.
func (s *swarm) halt(ctx context.Context, random *rand.Rand) error {
	last := s.projectors[projectorCount-1]
	for wait(ctx, leaseExpire+time.Duration(random.Int64N(int64(leaseExpire)))) {
		if err := last.halt(); err != nil {
			return err
		}
		s.halts++
		time.Sleep(leaseExpire + 2*leaseBalance + time.Duration(random.Int64N(int64(leaseExpire))))
		if err := last.goOn(); err != nil {
			return err
		}
	}
	return nil
}

// lost gives how often the projector that is stopped found that a lease of its is somebody else's. Error: never, though it was
// stopped, so that nothing was proved.
func (s *swarm) lost() (int, error) {
	log, err := os.ReadFile(s.projectors[projectorCount-1].log.Name())
	n := strings.Count(string(log), "a lease is somebody else's now")
	if err == nil && s.halts > 0 && n == 0 {
		err = errors.New("the projector that was stopped never woke without a lease")
	}
	return n, err
}

// end asks all projectors to end.
func (s *swarm) end() error {
	var failed error
	for _, d := range s.projectors {
		failed = errors.Join(failed, d.end())
	}
	return failed
}

// wait waits for so long. It tells whether ctx is not done.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
