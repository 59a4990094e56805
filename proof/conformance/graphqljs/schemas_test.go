//go:build ci

package graphqljs_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestSchemas builds the schema with other people's libraries (schemas.js, schemas.py).
func TestSchemas(t *testing.T) {
	if !*graphqljsFlag {
		t.Skip("NOT CHECKED without -graphqljs: whether clients can build the schema")
	}
	s := newServer(t)
	const file = "../../../schema.graphqls"
	for _, command := range [][]string{{"node", "schemas.js"}, {"python3", "schemas.py"}} {
		if _, err := exec.LookPath(command[0]); err != nil && command[0] != "node" {
			t.Logf("NOT CHECKED: %s, because there is no %s", command[1], command[0])
			continue
		}
		output, err := exec.CommandContext(t.Context(), command[0], command[1], s.url, file).CombinedOutput()
		for line := range strings.Lines(string(output)) {
			t.Log(strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			t.Errorf("%s: %v", command[1], err)
		}
	}
	t.Log("NOT CHECKED: the parsers of Apollo Kotlin and Apollo iOS, because neither npm nor Debian has them")
}
