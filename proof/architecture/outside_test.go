package architecture

import (
	"regexp"
	"testing"
)

const outside = "proof/conformance/outside"

// requirement is a line of a go.mod that requires a version of a module.
var requirement = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) (v\S+)`)

// TestOutsideFollows checks that the module in the folder outside requires cosmostest, and the same
// versions of its dependencies as this module.
func TestOutsideFollows(t *testing.T) {
	versions := map[string]string{}
	for _, r := range requirement.FindAllStringSubmatch(readText(t, moduleRoot+"/go.mod"), -1) {
		versions[r[1]] = r[2]
	}
	requirements := requirement.FindAllStringSubmatch(readText(t, moduleRoot+"/"+outside+"/go.mod"), -1)
	if len(requirements) < 2 {
		t.Fatalf("%s requires %v", outside, requirements)
	}
	published := modulePath + "/cosmostest"
	var found bool
	for _, r := range requirements {
		if path, version := r[1], r[2]; path == published {
			found = true
		} else if version != versions[path] {
			t.Errorf("%s requires %s %s, and this module %q: change it, and run %s/run --tidy", outside, path, version, versions[path], outside)
		}
	}
	if !found {
		t.Errorf("%s does not require %s", outside, published)
	}
}
