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

// The expiry of the projectors' leases, and how often they look for leases to take. It is short, so
// that many leases change in a minute.
const (
	leaseExpire  = 1500 * time.Millisecond
	leaseBalance = leaseExpire / 4
)

// projectorSet is a set of projectors. The last one is paused and resumed repeatedly, each time
// long enough that others take over its leases. The others are killed and restarted, before or
// after another one has had time to take over their leases.
type projectorSet []*victim

// projectorCount is the number of projectors in the set.
const projectorCount = 3

var works = regexp.MustCompile(`^The projector works on (.*)`)

func newProjectorSet(ctx context.Context, p program, environment []string, seed uint64) (projectorSet, error) {
	var s projectorSet
	for i := range projectorCount {
		v := &victim{name: fmt.Sprint("projector ", i), killShare: 1, random: rand.New(rand.NewPCG(seed, uint64(1+i))),
			quiet: span{0, time.Second}, disruption: span{0, leaseExpire / 2}}
		if i == projectorCount-1 {
			v.killShare = 0
			v.quiet = span{leaseExpire, 2 * leaseExpire}
			v.disruption = span{leaseExpire + 2*leaseBalance, 2*leaseExpire + 2*leaseBalance}
		}
		v.start = func(ctx context.Context) (*daemon, error) {
			return startProjector(ctx, p, environment, fmt.Sprintf("projector-%d.log", i))
		}
		var err error
		if v.running, err = v.start(ctx); err != nil {
			return s, errors.Join(err, s.end())
		}
		s = append(s, v)
	}
	return s, nil
}

// startProjector starts a projector with short lease periods.
func startProjector(ctx context.Context, p program, environment []string, log string) (*daemon, error) {
	return p.daemon(ctx, log, environment, works, "projector", "--lease-expire", leaseExpire.String())
}

// disturb kills and pauses projectors until ctx is done. Afterwards, all of them run.
func (s projectorSet) disturb(ctx context.Context) error {
	var group sync.WaitGroup
	found := make([]error, len(s))
	for i, v := range s {
		group.Go(func() { found[i] = v.disturb(ctx) })
	}
	group.Wait()
	return errors.Join(found...)
}

// disturbances returns the numbers of kills and pauses.
func (s projectorSet) disturbances() (kills, pauses int) {
	for _, v := range s {
		kills, pauses = kills+v.kills, pauses+v.pauses
	}
	return kills, pauses
}

// lostLeases returns the number of leases that the paused projector lost, according to its log.
// If it was paused but never lost a lease, lostLeases returns an error, because the test then
// proves nothing.
func (s projectorSet) lostLeases() (int, error) {
	log, err := os.ReadFile(s[projectorCount-1].running.log.Name())
	n := strings.Count(string(log), "lease lost: taken by another projector or not renewed in time")
	if _, pauses := s.disturbances(); err == nil && pauses > 0 && n == 0 {
		err = errors.New("the paused projector never lost a lease")
	}
	return n, err
}

func (s projectorSet) end() error {
	var failed error
	for _, v := range s {
		failed = errors.Join(failed, v.running.end())
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
