//go:build ci

package graphqljs_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRules compares the examples of each rule of validation. graphql-js must reject them by that
// rule, too.
func TestRules(t *testing.T) {
	c := newComparison(t)
	text, err := os.ReadFile("../../../api/documents/testdata/rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	section, rule := "", ""
	for line := range strings.Lines(string(text)) {
		sign, query, _ := strings.Cut(strings.TrimSpace(line), " ")
		if sign != "+" && sign != "-" {
			section = strings.TrimSpace(line)
			_, rule, _ = strings.Cut(strings.TrimSuffix(section, ")"), " (")
			continue
		}
		d := &document{Query: query, Kind: "query"}
		for _, kind := range []string{"mutation", "subscription"} {
			if strings.HasPrefix(query, kind) {
				d.Kind = kind
			}
		}
		c.oracle.ask(d)
		v := c.oracle.next()
		want, _ := decide(d, v)
		isRejected := want.Phase == "validation" && (rule == "" || slices.Contains(want.Rules, rule))
		if difference := c.compare(d, v, true); difference != "" || sign == "-" && !isRejected || sign == "+" && want.Phase == "validation" {
			t.Errorf("%s: %s %s: %s\n%s", section, sign, query, difference, c.detail)
		}
	}
}
