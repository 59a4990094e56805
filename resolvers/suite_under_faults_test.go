//go:build ci

package resolvers_test

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"cosmosblog/proof/testseed"
)

var everyProfileFlag = flag.Bool("every-fault-profile", false,
	"TestSuiteUnderFaults runs the tests with each fault profile; by default, only with the profile all")

// TestSuiteUnderFaults runs all tests of the package again with fault profiles, each in its own
// process. The profile "all" combines the others except behind; -every-fault-profile also runs each
// one alone.
func TestSuiteUnderFaults(t *testing.T) {
	if *faultsFlag != "" {
		t.Skip("this run already has a fault profile")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	profiles := []string{"all", "behind"}
	if *everyProfileFlag {
		profiles = slices.Sorted(maps.Keys(faultProfiles))
	}
	seed := testseed.Of(t)
	for _, profile := range profiles {
		t.Run(profile, func(t *testing.T) {
			output, err := exec.CommandContext(t.Context(), program, "-faults", profile,
				"-test.run", "^Test", "-test.timeout", "5m").CombinedOutput()
			if err != nil {
				t.Errorf("repeat with %s=%d and -faults %s: %v\n%s", testseed.Variable, seed, profile, err, output)
			}
		})
	}
}
