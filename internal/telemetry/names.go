package telemetry

import "sync"

// Clients choose the names of operations. Metrics have at most maxNames of them as labels, none
// longer than maxNameLength. Each name takes dozens of series in this process and in Prometheus
// until the process ends.
const (
	maxNames      = 200
	maxNameLength = 64
)

// Labels in place of a name. GraphQL's names have no parentheses.
const (
	anonymous = "(anonymous)" // the operation has no name
	other     = "(other)"     // the name is too long, or maxNames others are in use
)

// operationNames holds the first maxNames names of operations. They may be used concurrently.
type operationNames struct {
	mu    sync.RWMutex
	known map[string]bool
}

func (n *operationNames) label(name string) string {
	switch {
	case name == "":
		return anonymous
	case len(name) > maxNameLength:
		return other
	}
	n.mu.RLock()
	known := n.known[name]
	n.mu.RUnlock()
	if known || n.add(name) {
		return name
	}
	return other
}

// add adds a name if there is room. It reports whether the name may be used as a label.
func (n *operationNames) add(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNames {
		return n.known[name]
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[name] = true
	return true
}
