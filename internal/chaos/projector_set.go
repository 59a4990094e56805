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

// The lease periods of the projectors. They are as short as possible, so that many leases change
// in a minute.
const (
	leaseRenew   = 300 * time.Millisecond
	leaseExpire  = 1500 * time.Millisecond
	leaseBalance = 300 * time.Millisecond
)

// projectorSet is a set of projectors. The last one is paused and resumed repeatedly; the others
// are killed and restarted.
type projectorSet struct {
	start      func(ctx context.Context, i int) (*daemon, error)
	random     *rand.Rand
	projectors []*daemon
	kills      int
	pauses     int
}

// projectorCount is the number of projectors in the set.
const projectorCount = 3

var works = regexp.MustCompile(`^The projector works on (.*)`)

func newProjectorSet(ctx context.Context, p program, environment []string, seed uint64) (*projectorSet, error) {
	s := &projectorSet{random: rand.New(rand.NewPCG(seed, 1))}
	s.start = func(ctx context.Context, i int) (*daemon, error) {
		return p.daemon(ctx, fmt.Sprintf("projector-%d.log", i), environment, works, "projector",
			"--lease-renew", leaseRenew.String(), "--lease-expire", leaseExpire.String(),
			"--lease-balance", leaseBalance.String())
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

// disturb kills and pauses projectors until ctx is done. Afterwards, all of them run.
func (s *projectorSet) disturb(ctx context.Context) error {
	var group sync.WaitGroup
	var killing, pausing error
	random := rand.New(rand.NewPCG(s.random.Uint64(), 2))
	group.Go(func() { killing = s.kill(ctx) })
	group.Go(func() { pausing = s.pause(ctx, random) })
	group.Wait()
	return errors.Join(killing, pausing)
}

// kill kills one of the first projectors every second or so. It restarts it before or after
// another one has had time to take over its leases.
func (s *projectorSet) kill(ctx context.Context) error {
	for wait(ctx, time.Duration(s.random.Int64N(int64(time.Second)))) {
		i := s.random.IntN(projectorCount - 1)
		if err := s.projectors[i].kill(); err != nil {
			return fmt.Errorf("projector %d: %w", i, err)
		}
		s.kills++
		time.Sleep(time.Duration(s.random.Int64N(int64(leaseExpire))) / 2)
		restarted, err := s.start(context.WithoutCancel(ctx), i)
		if err != nil {
			return err
		}
		s.projectors[i] = restarted
	}
	return nil
}

// pause pauses the last projector repeatedly, each time long enough that others take over its
// leases.
func (s *projectorSet) pause(ctx context.Context, random *rand.Rand) error {
	last := s.projectors[projectorCount-1]
	for wait(ctx, leaseExpire+time.Duration(random.Int64N(int64(leaseExpire)))) {
		if err := last.pause(); err != nil {
			return err
		}
		s.pauses++
		time.Sleep(leaseExpire + 2*leaseBalance + time.Duration(random.Int64N(int64(leaseExpire))))
		if err := last.resume(); err != nil {
			return err
		}
	}
	return nil
}

// lostLeases returns the number of leases that the paused projector lost, according to its log.
// If it was paused but never lost a lease, lostLeases returns an error, because the test then
// proves nothing.
func (s *projectorSet) lostLeases() (int, error) {
	log, err := os.ReadFile(s.projectors[projectorCount-1].log.Name())
	n := strings.Count(string(log), "lease lost: taken by another projector or not renewed in time")
	if err == nil && s.pauses > 0 && n == 0 {
		err = errors.New("the paused projector never lost a lease")
	}
	return n, err
}

func (s *projectorSet) end() error {
	var failed error
	for _, d := range s.projectors {
		failed = errors.Join(failed, d.end())
	}
	return failed
}

// wait waits for a duration. It reports whether ctx is still valid.
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
