package architecture

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestTagOfSlowTests checks that only tests have the tag ci, and that the scripts set it. What
// `go run .` runs is thus what all of the tests test.
func TestTagOfSlowTests(t *testing.T) {
	const line = "//go:build ci\n"
	tagged := 0
	for _, p := range packages(t) {
		for _, f := range slices.Concat(p.files, p.tests) {
			if isTagged := bytes.HasPrefix(f.source, []byte(line)); isTagged && !strings.HasSuffix(f.path, "_test.go") {
				t.Errorf("%s is no test, and has the tag ci", f.path)
			} else if isTagged {
				tagged++
			}
		}
	}
	if tagged == 0 {
		t.Error("no test has the tag ci")
	}
	for _, script := range []string{".ci/steps", ".ci/race"} {
		if !strings.Contains(read(t, moduleRoot+"/"+script), "GOFLAGS=-tags=ci") {
			t.Errorf("%s does not set the tag ci", script)
		}
	}
}
