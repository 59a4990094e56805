package telemetry

import (
	"net/netip"
	"sync"
)

// Clients choose the names of operations. Metrics have at most maxNames of them as labels, none
// longer than maxNameLength, and at most maxClientNames that one client was the first to use. Each
// name takes dozens of series in this process and in Prometheus until the process ends.
const (
	maxNames       = 200
	maxClientNames = 50 // several times the operations of a usual application
	maxNameLength  = 64
)

// Labels in place of a name. GraphQL's names have no parentheses.
const (
	anonymous = "(anonymous)" // the operation has no name
	other     = "(other)"     // the name is no label
)

// operationNames holds the names that are labels: the first ones of operations that succeeded. They
// may be used concurrently.
type operationNames struct {
	mu       sync.RWMutex
	known    map[string]bool
	byClient map[string]int // number of known names that a client was the first to use
}

// label returns the label of an operation's name. The name must share no memory with a request,
// because labels stay until the process ends. A name becomes a label when an operation of that
// name succeeds, if there is room for another name of the client.
func (n *operationNames) label(name, client string, succeeded bool) string {
	if name == "" {
		return anonymous
	}
	n.mu.RLock()
	known := n.known[name]
	n.mu.RUnlock()
	if known || succeeded && n.add(name, networkOf(client)) {
		return name
	}
	return other
}

// add adds a name if there is room. It reports whether the name is a label.
func (n *operationNames) add(name, client string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[name] || len(n.known) >= maxNames || n.byClient[client] >= maxClientNames {
		return n.known[name]
	}
	if n.known == nil {
		n.known, n.byClient = map[string]bool{}, map[string]int{}
	}
	n.known[name] = true
	n.byClient[client]++
	return true
}

// networkOf returns the /64 network of an IPv6 address, because one client often has all of it.
func networkOf(client string) string {
	address, err := netip.ParseAddr(client)
	if err != nil || address.Is4() {
		return client
	}
	network, _ := address.Prefix(64)
	return network.String()
}
