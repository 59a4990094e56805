package budget_test

import (
	"net/netip"
	"testing"
	"time"

	"cosmosblog/guard/budget"
)

var (
	network = netip.MustParseAddr("192.0.2.1")
	other   = netip.MustParseAddr("192.0.2.2")
)

// work lets a user work in steps of 10 ms for as long as its share permits at this moment.
func work(u *budget.User) (spent, wait time.Duration) {
	for {
		if wait = u.Begin(10 * time.Millisecond); wait > 0 {
			return spent, wait
		}
		spent += 10 * time.Millisecond
	}
}

// TestShareOfTheProcessors checks that a client has an eighth of the processors, whatever its
// addresses and accounts, and that what it did not need is returned.
func TestShareOfTheProcessors(t *testing.T) {
	now := time.Now()
	p := budget.NewProcessor(4, true, func() time.Time { return now })
	u := p.User("ann", network)
	spent, wait := work(u)
	if spent != 500*time.Millisecond || wait <= 0 || wait > 10*time.Millisecond {
		t.Errorf("a full share has %v, and then a wait of %v", spent, wait)
	}
	for name, same := range map[string]*budget.User{"the account": p.User("ann", other), "the address": p.User("bob", network), "none": p.User("", network)} {
		if same.Begin(0) == 0 {
			t.Errorf("%s: work begins", name)
		}
	}
	if p.User("bob", other).Begin(0) != 0 {
		t.Error("another client waits")
	}
	now = now.Add(200 * time.Millisecond)
	if spent, _ := work(u); spent != 100*time.Millisecond {
		t.Errorf("after 0.2 s: %v", spent)
	}
	now = now.Add(wait)
	u.Add(-50 * time.Millisecond)
	if spent, _ := work(u); spent < 50*time.Millisecond || spent > 60*time.Millisecond {
		t.Errorf("50 ms were returned: %v", spent)
	}
}

// TestShareOfAllClients checks that all clients together have half of the processors, and that one
// that has used little comes first.
func TestShareOfAllClients(t *testing.T) {
	now := time.Now()
	p := budget.NewProcessor(4, true, func() time.Time { return now })
	var users []*budget.User
	for i := range 100 {
		users = append(users, p.User("", netip.AddrFrom4([4]byte{10, 0, byte(i), 1})))
	}
	all := time.Duration(0)
	for range 100 {
		for _, u := range users {
			spent, _ := work(u)
			all += spent
		}
		now = now.Add(100 * time.Millisecond)
	}
	// Half of 4 processors for 10 s, what was full, and what those that came first overdrew.
	if all < 20*time.Second || all > 24*time.Second {
		t.Errorf("%v of 40 s were spent", all)
	}
	for _, u := range users {
		u.Begin(time.Millisecond)
	}
	if wait := p.User("", network).Begin(time.Millisecond); wait > 0 {
		t.Errorf("a client that has used nothing waits for %v", wait)
	}
}

// TestAddressesWithoutShare checks that an address has no share if streams are not limited by it.
func TestAddressesWithoutShare(t *testing.T) {
	now := time.Now()
	p := budget.NewProcessor(4, false, func() time.Time { return now })
	if spent, _ := work(p.User("", network)); spent < 2*time.Second {
		t.Errorf("an address has %v", spent)
	}
	if spent, _ := work(p.User("ann", other)); spent > 500*time.Millisecond {
		t.Errorf("an account has %v", spent)
	}
}
