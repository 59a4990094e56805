package stream

import (
	"net/netip"
	"sync"

	"cosmosblog/internal/limits"
)

// Places counts the streams in progress. It holds no more names than there are streams. It may be
// used concurrently.
type Places struct {
	All, PerAddress, PerAccount int // the most that are allowed; 0 for any number

	mu       sync.Mutex
	all      int
	networks map[netip.Prefix]int
	accounts map[string]int
}

// Enter counts a stream of an address, which may be invalid, and an account, which may be empty. It
// returns a function that ends it. It returns false if there are as many as allowed, of all
// clients, of the address's network or of the account.
func (p *Places) Enter(address netip.Addr, account string) (leave func(), ok bool) {
	var network netip.Prefix
	if address.IsValid() {
		network = limits.NetworkOf(address)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	isFull := func(n, most int) bool { return most > 0 && n >= most }
	if isFull(p.all, p.All) || network.IsValid() && isFull(p.networks[network], p.PerAddress) ||
		account != "" && isFull(p.accounts[account], p.PerAccount) {
		return nil, false
	}
	if p.networks == nil {
		p.networks, p.accounts = map[netip.Prefix]int{}, map[string]int{}
	}
	p.all++
	p.networks[network]++
	p.accounts[account]++
	return sync.OnceFunc(func() { p.leave(network, account) }), true
}

func (p *Places) leave(network netip.Prefix, account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.networks[network]--; p.networks[network] == 0 {
		delete(p.networks, network)
	}
	if p.accounts[account]--; p.accounts[account] == 0 {
		delete(p.accounts, account)
	}
}
