package command

import (
	"io"
	"strings"
	"testing"

	"cosmosblog/store"
)

// What is not known to be right is not said to be.
func TestRebuildVerdict(t *testing.T) {
	for says, rebuilt := range map[string]store.Rebuilt{
		"everything was right\n":                             {},
		"in 3 of them something was not right, and is now\n": {Differed: 3},
		"in 2 of them something was not right, and is now\n": {Differed: 3, Restless: 1},
		"": {Differed: 1, Restless: 1},
	} {
		var said strings.Builder
		if err := rebuildVerdict(Task{Environment: Environment{Stdout: &said, Stderr: io.Discard}}, rebuilt); err != nil || said.String() != says {
			t.Errorf("%+v: %q, %v", rebuilt, said.String(), err)
		}
	}
	if err := rebuildVerdict(Task{Environment: Environment{Stdout: io.Discard, Stderr: io.Discard}}, store.Rebuilt{Differed: 2, Left: 1}); err == nil {
		t.Error("what is left is no error")
	}
}
