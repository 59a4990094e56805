package cli

import (
	"io"
	"strings"
	"testing"

	"cosmosblog/store/audit"
)

// A rebuild does not count partitions that it could not compare as correct or repaired.
func TestRebuildResult(t *testing.T) {
	for want, rebuilt := range map[string]audit.Rebuilt{
		"no drift found\n":                      {},
		"3 of them drifted and were repaired\n": {Differed: 3},
		"2 of them drifted and were repaired\n": {Differed: 3, Unstable: 1},
		"":                                      {Differed: 1, Unstable: 1},
	} {
		var stdout strings.Builder
		if err := rebuildResult(quiet(&stdout), rebuilt); err != nil || stdout.String() != want {
			t.Errorf("%+v: %q, %v", rebuilt, stdout.String(), err)
		}
	}
	if err := rebuildResult(quiet(io.Discard), audit.Rebuilt{Differed: 2, Left: 1}); err == nil {
		t.Error("remaining drifts returned no error")
	}
}
