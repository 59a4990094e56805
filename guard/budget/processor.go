package budget

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"cosmosblog/guard/limits"
)

const (
	// processorPart is the part of the processors that all events of subscriptions together may take.
	// The rest is for requests, whose clients wait for an answer.
	processorPart = 0.5

	// clientPart is the part of the processors for the events of one account or one address. Another
	// client's requests then find nearly as much as if it were alone.
	clientPart = 1. / 8

	// processorBurst is the time whose rate a full share holds.
	processorBurst = time.Second

	// lightPart is the part of the time of all events from which on a client no longer comes first.
	lightPart = 1. / 32
)

// Processor divides the processor time of events among the clients of a server. Each account and
// each network of an address has a share, and all together have one. It counts what stands for the
// time, and not the time itself, which depends on what else the machine does. It may be used
// concurrently.
//
// A share is a token bucket like a budget. If the share of all is used up, clients that have used
// little in the last seconds come first: the less, the more they may overdraw it, up to its size.
type Processor struct {
	now func() time.Time

	mu        sync.Mutex
	all       *purse
	accounts  *purses[string]
	addresses *purses[netip.Prefix]
}

// NewProcessor returns full shares of a number of processors. If limitsAddresses is false,
// addresses have none of their own. now returns the time.
func NewProcessor(processors float64, limitsAddresses bool, now func() time.Time) *Processor {
	rate := processors // in seconds of processor time per second
	p := &Processor{
		now:      now,
		all:      newPurse(rate*processorPart, processorBurst, now()),
		accounts: newPurses[string](rate*clientPart, processorBurst),
	}
	if limitsAddresses {
		p.addresses = newPurses[netip.Prefix](rate*clientPart, processorBurst)
	} else {
		p.addresses = newPurses[netip.Prefix](0, 0)
	}
	return p
}

// User is a client of a Processor. It may be used concurrently.
type User struct {
	processor *Processor
	purses    [2]*purse // by Kind; nil without a share
}

// User returns the client with an account, or "", and an address, which may be invalid. It keeps no
// memory of the account.
func (p *Processor) User(account string, address netip.Addr) *User {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := &User{processor: p}
	if account != "" {
		u.purses[Account] = p.accounts.of(strings.Clone, account, p.now())
	}
	if address.IsValid() {
		u.purses[Address] = p.addresses.of(nil, limits.NetworkOf(address), p.now())
	}
	return u
}

// Begin takes a time for work that begins now. If something is left of all shares, it returns 0,
// whatever the time. Otherwise it takes nothing, and returns the time to wait before another try.
func (u *User) Begin(expected time.Duration) (wait time.Duration) {
	p := u.processor
	p.mu.Lock()
	defer p.mu.Unlock()
	now, recent := p.now(), 0.
	for _, purse := range u.purses {
		if purse != nil {
			purse.refill(now)
			wait = max(wait, purse.wait(false))
			recent = max(recent, purse.recent)
		}
	}
	p.all.refill(now)
	first := max(0, 1-recent/(lightPart*p.all.rate))
	if over := -p.all.left - first*p.all.size(); over >= 0 {
		wait = max(wait, p.all.until(over).Truncate(time.Millisecond)+time.Millisecond)
	}
	if wait == 0 {
		u.take(expected)
	}
	return wait
}

// Add takes a time for work that was done. A negative one is returned.
func (u *User) Add(done time.Duration) {
	p := u.processor
	p.mu.Lock()
	defer p.mu.Unlock()
	u.take(done)
}

func (u *User) take(time time.Duration) {
	u.processor.all.left -= time.Seconds()
	for _, purse := range u.purses {
		if purse != nil {
			purse.left -= time.Seconds()
			purse.recent = max(0, purse.recent+time.Seconds()) // it may have decayed since it was taken
		}
	}
}
