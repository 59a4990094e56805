package architecture

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// proof is a step of .ci/long, and the folders after whose change it runs.
var proof = regexp.MustCompile(`(?m)^proof (\S+) "([^"]+)" `)

// row is a row of the table in docs/testing.md. Its second column has the folders.
var row = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([^|]+) \\|")

// TestTableOfProofs compares the table in docs/testing.md with the steps of .ci/long, whose
// folders must exist.
func TestTableOfProofs(t *testing.T) {
	script, document := read(t, "../../.ci/long"), read(t, "../../docs/testing.md")
	_, document, _ = strings.Cut(document, "## The steps of `.ci/long`")
	document, _, _ = strings.Cut(document, "\n## ")
	var steps, rows []string
	for _, match := range proof.FindAllStringSubmatch(script, -1) {
		steps = append(steps, match[1]+": "+match[2])
		for _, folder := range strings.Fields(match[2]) {
			if _, err := os.Stat("../../" + folder); err != nil && folder != "/" {
				t.Errorf("%s: %v", match[1], err)
			}
		}
	}
	for _, match := range row.FindAllStringSubmatch(document, -1) {
		folders := strings.NewReplacer("`", "", ",", "", "every change", "/").Replace(match[2])
		rows = append(rows, match[1]+": "+folders)
	}
	if len(steps) == 0 || !slices.Equal(steps, rows) {
		t.Errorf(".ci/long has the steps\n%s\nand docs/testing.md\n%s", strings.Join(steps, "\n"), strings.Join(rows, "\n"))
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
