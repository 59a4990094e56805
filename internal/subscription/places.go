package subscription

import (
	"net/netip"
	"sync"

	"cosmosblog/internal/limits"
)

// places counts the open subscriptions. It holds no more names than there are subscriptions. It may
// be used concurrently.
type places struct {
	all, perAddress, perAccount int // the most that are allowed; 0 for any number

	mu       sync.Mutex
	open     int
	networks map[netip.Prefix]int
	accounts map[string]int
}

// enter counts a subscription of an address, which may be invalid, and an account, which may be
// empty. It returns a function that ends it. It returns false if there are as many as allowed, of
// all clients, of the address's network or of the account.
func (p *places) enter(address netip.Addr, account string) (leave func(), ok bool) {
	var network netip.Prefix
	if address.IsValid() {
		network = limits.NetworkOf(address)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	isFull := func(n, most int) bool { return most > 0 && n >= most }
	if isFull(p.open, p.all) || network.IsValid() && isFull(p.networks[network], p.perAddress) ||
		account != "" && isFull(p.accounts[account], p.perAccount) {
		return nil, false
	}
	if p.networks == nil {
		p.networks, p.accounts = map[netip.Prefix]int{}, map[string]int{}
	}
	p.open++
	p.networks[network]++
	p.accounts[account]++
	return sync.OnceFunc(func() { p.leave(network, account) }), true
}

func (p *places) leave(network netip.Prefix, account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	if p.networks[network]--; p.networks[network] == 0 {
		delete(p.networks, network)
	}
	if p.accounts[account]--; p.accounts[account] == 0 {
		delete(p.accounts, account)
	}
}
