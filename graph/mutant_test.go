package graph_test

import (
	"flag"
	"testing"

	"cosmosblog/proof/mutanttest"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which compiles the package with deliberate mistakes")

// ofTexts are the tests of texts that requests share.
var ofTexts = []string{".", "-run", "^Test(Pages|SharedTexts)"}

var mutants = map[string]mutanttest.Mutant{
	"no @skip and @include": {
		File:  "selection.go",
		Right: "	computed := newSelection(",
		Wrong: `	set = append(ast.SelectionSet{}, set...)
	for i, selected := range set {
		if field, ok := selected.(*ast.Field); ok {
			always := *field
			always.Directives = nil
			set[i] = &always
		}
	}
	computed := newSelection(`,
	},
	"no aliases": {
		File:  "selection.go",
		Right: "selectedField{alias: field.Alias}",
		Wrong: "selectedField{alias: field.Name}",
	},
	"fields not merged": {
		File:  "selection.go",
		Right: "			merged.SelectionSet = field.Selections\n",
		Wrong: "",
	},
	"fragments on other types": {
		File:  "selection.go",
		Right: "graphql.CollectFields(operation, set, implementors)",
		Wrong: "graphql.CollectFields(operation, set, nil)",
	},
	"selections without room": {
		File:  "selection.go",
		Right: "	case len(computed.resolved) > 0:\n		return &selection{}\n",
		Wrong: "",
	},
	"one selection for all types": {
		File:  "selection.go",
		Right: "selectionKey{set[0], len(set), implementors[0]}",
		Wrong: "selectionKey{set[0], len(set), \"\"}",
	},
	"null scalars": {
		File:  "plain.go",
		Right: `	return n == nullable || string(w.text[begin:]) != "null"`,
		Wrong: `	return n == nullable || begin > 0`,
	},
	"null objects": {
		File:  "plain.go",
		Right: "	return n == nullable\n",
		Wrong: "	return n == nullable || len(w.text) > 0\n",
	},
	"null elements": {
		File:  "plain.go",
		Right: "if element == nil || !appendTo(w, s, element) {",
		Wrong: "if element != nil && !appendTo(w, s, element) {",
	},
	"null not propagated": {
		File:  "plain.go",
		Right: "		return resolved\n",
		Wrong: "		return &object{text: []byte(\"{}\")}\n",
	},
	"one text for all selections of a page": {
		File:  "model/connection.go",
		Right: "Selection: selection, ",
		Wrong: "",
		Tests: ofTexts,
	},
	"one text for the first page and others": {
		File:  "model/connection.go",
		Right: "After: c.After, ",
		Wrong: "",
		Tests: ofTexts,
	},
	"one text for all ranks": {
		File:  "model/connection.go",
		Right: "		key.Rank = c.Page.Positions[0].Rank\n",
		Wrong: "",
		Tests: ofTexts,
	},
	"one text for the last page and others": {
		File:  "model/connection.go",
		Right: "After: c.After, HasNextPage: c.Page.HasNextPage, Total",
		Wrong: "After: c.After, Total",
		Tests: ofTexts,
	},
	"one text for all totals": {
		File:  "model/connection.go",
		Right: ", Total: c.Page.Total}",
		Wrong: "}",
		Tests: ofTexts,
	},
	"panics": {
		File:  "plain.go",
		Right: "			ok = false\n",
		Wrong: "			ok = true\n",
	},
	"no escapes": {
		File:  "model/scalar.go",
		Right: `(word-ones*' ')&^word|(quote-ones)`,
		Wrong: `(quote-ones)`,
	},
}

// TestMutantsAreFound plants one mistake at a time in a copy of the sources that only the compiler
// sees, and checks that a comparison with gqlgen's own answers fails.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("compiles the package several times; set -mutants to run it")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			if m.Tests == nil {
				m.Tests = []string{".", "-run", "^Test(PlainFields|SelectionsBeyondRoom)$", "-documents", "10000"}
			}
			m.Test(t)
		})
	}
}

// TestMutantsFit checks that every mistake still fits its source file.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		m.Plant(t)
	}
}
