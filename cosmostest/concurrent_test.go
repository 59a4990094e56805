package cosmostest_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"cosmosblog/cosmostest"
)

const (
	workers = 6
	rounds  = 15
)

// together runs a function in several goroutines, each with a client of its own.
func (s *shop) together(transport func() *cosmostest.Transport, work func(c *client, worker int)) {
	s.Helper()
	var all sync.WaitGroup
	for worker := range workers {
		c := newClient(s, transport())
		all.Go(func() { work(c, worker) })
	}
	all.Wait()
}

// TestConcurrentClients writes and reads in several goroutines, while the account is split and the
// follower changes its lag.
func TestConcurrentClients(t *testing.T) {
	for _, options := range []cosmostest.Options{{}, {Follower: true}, {Scripts: cosmostest.Scripts{Snapshot: true}}} {
		s := newShop(t, options)
		s.register("add", addOrders)
		written, stop, err := s.Watch("shop", "orders")
		s.must(err)
		defer stop()
		s.together(s.NewTransport, func(c *client, worker int) {
			for round := range rounds {
				id := fmt.Sprintf("%d-%d", worker, round)
				if err := c.tryPut("ada", id); err != nil {
					t.Errorf("a write: %v", err)
				}
				got, err := c.transport.Send(t.Context(), "POST", sprocs+"/add", fmt.Sprintf(`[["%s-script"]]`, id), of("ada"))
				if err != nil || got.StatusCode != http.StatusOK {
					t.Errorf("an execution: %v %v", got, err)
				}
				if err := c.tryGet("ada", id); err != nil {
					t.Errorf("a writer does not see its write: %v", err)
				}
				s.Changes("shop", "orders", "ada")
				s.disturb(worker, round)
			}
		})
		if s.Follower != nil {
			s.Follower.CatchUp()
		}
		if n := len(strings.Fields(s.seen("ada"))); n != 2*workers*rounds {
			t.Errorf("there are %d orders, want %d", n, 2*workers*rounds)
		}
		if !received(written) {
			t.Error("Watch did not receive")
		}
		if s.ranges() != 3 {
			t.Errorf("there are %d ranges, want 3", s.ranges())
		}
	}
}

// disturb splits the account twice, and changes the follower's lag.
func (s *shop) disturb(worker, round int) {
	if worker == 0 && (round == 4 || round == 9) {
		if err := s.Split("shop", "orders", map[int]string{4: "0", 9: "1"}[round]); err != nil {
			s.Error(err)
		}
	}
	if s.Follower == nil {
		return
	}
	switch (worker + round) % 7 {
	case 0:
		s.Follower.Hold()
	case 1:
		s.Follower.FallBehind()
	case 2:
		s.Follower.Lag(3)
	case 3:
		s.Follower.Trail(1000)
	case 4:
		s.Follower.Lead()
	case 5:
		s.Follower.CatchUp()
	default:
		s.Follower.Stale()
		s.Follower.Diverged()
	}
}

// TestConcurrentFaults counts the requests of one transport that several goroutines use, while
// faults are injected.
func TestConcurrentFaults(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	refuse := cosmostest.Refuse(http.StatusServiceUnavailable)
	s.Inject(cosmostest.Writes(cosmostest.First(10, refuse)))
	var mu sync.Mutex
	refused := 0
	s.together(func() *cosmostest.Transport { return s.Account.Transport }, func(c *client, worker int) {
		for round := range rounds {
			err := c.tryPut("ada", fmt.Sprintf("%d-%d", worker, round))
			c.tryGet("ada", "none")
			s.Requests()
			mu.Lock()
			if err != nil {
				refused++
			}
			mu.Unlock()
		}
	})
	if n := len(s.Requests()); refused != 10 || n != 2*workers*rounds {
		t.Errorf("%d writes were refused, %d requests recorded; want 10 and %d", refused, n, 2*workers*rounds)
	}
	clock := cosmostest.NewClock(noon)
	budget := cosmostest.Budget(1_000_000, clock.Now)
	s.together(s.NewTransport, func(c *client, worker int) {
		for round := range rounds {
			c.transport.Inject(budget)
			if err := c.tryPut("ada", fmt.Sprint(round)); err != nil {
				t.Errorf("a write within the budget: %v", err)
			}
			c.transport.Inject(nil)
			clock.Advance(1)
		}
	})
}
