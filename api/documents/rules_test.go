package documents_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/documents"
	"cosmosblog/guard/limits"
)

//go:embed testdata/rules.txt
var rulesText string

// Each rule of chapter 5 accepts and rejects documents as the edition says.
func TestRules(t *testing.T) {
	d := documents.New(limits.Default(), true)
	section, rule := "", ""
	for line := range strings.Lines(rulesText) {
		sign, document, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch sign {
		case "+", "-":
			_, errs := d.Read(document, "")
			isViolated := slices.ContainsFunc(errs, func(err *gqlerror.Error) bool { return err.Rule == rule })
			if len(errs) == 0 != (sign == "+") || sign == "-" && !isViolated {
				t.Errorf("%s: %s %s: %v", section, sign, document, errs)
			}
		default:
			section = strings.TrimSpace(line)
			_, rule, _ = strings.Cut(strings.TrimSuffix(section, ")"), " (")
		}
	}
}
