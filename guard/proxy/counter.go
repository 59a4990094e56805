package proxy

import (
	"net/netip"
	"sync"

	"cosmosblog/guard/limits"
)

// Counter counts the requests in progress of clients by their networks (limits.NetworkOf). It holds
// no more networks than there are such requests. The zero value is ready. It may be used
// concurrently.
type Counter struct {
	mu       sync.Mutex
	requests map[netip.Prefix]int
}

// Begin counts a request of a client, which End ends. It returns false, and counts nothing, if the
// client's network has as many as allowed.
func (c *Counter) Begin(client netip.Addr, allowed int) bool {
	network := limits.NetworkOf(client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests[network] >= allowed {
		return false
	}
	if c.requests == nil {
		c.requests = map[netip.Prefix]int{}
	}
	c.requests[network]++
	return true
}

// End ends a request that Begin counted.
func (c *Counter) End(client netip.Addr) {
	network := limits.NetworkOf(client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests[network]--; c.requests[network] == 0 {
		delete(c.requests, network)
	}
}
