//go:build ci

package graph_test

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"cosmosblog/graph"
)

// TestSelectionsBeyondRoom executes a document whose selections have no room, while memory is
// collected and used again all the time. gqlgen caches collected fields by the addresses of
// selection sets, so a set that is released too early gives its fields to the next one.
func TestSelectionsBeyondRoom(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	var document strings.Builder
	for i := range 20 {
		fmt.Fprintf(&document, ` f%[1]d: feed { nodes { %[2]s comments { nodes { id%[1]d: id } } } }`,
			i, strings.Repeat("id ", 1000))
	}
	m := newMemory(100, 1)
	m.comments = newMemory(1, 1).comments
	operation := newOperation(t, m, "{"+document.String()+"}")
	var want executed
	graph.WithoutPlainFields(func() { want = operation(t.Context()) })
	for n := range 3 {
		if got := operation(t.Context()); got != want {
			t.Fatalf("execution %d: %v\nwant %v", n, got, want)
		}
	}
}
