package telemetry

import "sync"

// The names of operations are their clients' words. As labels of metrics there are at most mostNames of them, none longer than
// longestName: each name is some dozens of numbers in memory, and in Prometheus' too, for as long as the process runs.
const (
	mostNames   = 200
	longestName = 64
)

// What stands in a name's place. No name in GraphQL has parentheses.
const (
	anonymous = "(anonymous)" // the client gave none
	other     = "(other)"     // it is too long, or there are mostNames others
)

// names are the names of operations that came first. They may be used concurrently.
type names struct {
	mu    sync.RWMutex
	known map[string]bool
}

// label gives what stands for a name in metrics.
func (n *names) label(name string) string {
	switch {
	case name == "":
		return anonymous
	case len(name) > longestName:
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

// add makes a name known where there is room for it.
func (n *names) add(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= mostNames {
		return n.known[name]
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[name] = true
	return true
}
