//go:build ci

package graphqljs_test

import (
	"slices"
	"strings"
)

// versionDifferences are the kinds of documents that the versions of graphql-js judge differently.
// The text of the edition of September 2025 decides.
var versionDifferences = []struct {
	section string
	isThis  func(v verdicts) bool
	right   func(v verdicts) verdict
}{
	{"5.2.4.1: no @skip and @include at the root of a subscription, which version 16 evaluates", func(v verdicts) bool {
		return slices.Contains(v.V17.Rules, "SingleFieldSubscriptions")
	}, v17},
	{"2.5: a selection set has a selection; version 17 accepts { }", func(v verdicts) bool {
		return v.V16.Phase == "parse" && strings.HasPrefix(v.V16.Message, `Syntax Error: Expected Name, found "}"`)
	}, v16},
	{"4.2: includeDeprecated is Boolean!, so it cannot be null, and this is validated; in version 16, it is Boolean", func(v verdicts) bool {
		return v.V16.Phase != "validation" && v.V17.Phase != "run" && strings.Contains(v.V17.Message, "Boolean!")
	}, v17},
	{"3.13, 4.2: the built-in types and directives; those of version 17 are the edition's, and oracle.js removes newer ones", func(v verdicts) bool {
		return v.V16.Phase == "run" && v.V17.Phase == "run"
	}, v17},
}

func v16(v verdicts) verdict { return v.V16 }
func v17(v verdicts) verdict { return v.V17 }

// permitted are the kinds of documents that the server may judge differently than graphql-js.
var permitted = []struct {
	section string
	isThis  func(d *document, want verdict, got reply) bool
}{
	{"2.2: a service that only executes may choose to parse only executable documents", func(_ *document, want verdict, got reply) bool {
		return slices.Contains(want.Rules, "ExecutableDefinitions") && got.Phase == "parse"
	}},
	{"2.9.4: an escape in braces has any number of digits; graphql-js takes at most eight", func(_ *document, want verdict, got reply) bool {
		return strings.Contains(want.Message, `Invalid Unicode escape sequence: "\u{000000000`) && got.Phase != "parse"
	}},
	{"6.1: an empty operationName is one that no operation has; for the server, it is none", func(d *document, want verdict, got reply) bool {
		return d.OperationName != nil && *d.OperationName == "" && want.Phase == "request" && got.Phase == "run"
	}},
	{"5.8.5: a null condition is an error of execution; the server executes nothing", func(d *document, want verdict, got reply) bool {
		return want.Phase == "run" && strings.Contains(d.Variables, "null") && strings.HasPrefix(got.Message, "The condition of `@skip`")
	}},
}

// decide returns the verdict of the specification. unknown describes a difference between the
// versions of graphql-js that the list above does not have. Data of documents without introspection
// never differs.
func decide(d *document, v verdicts) (right verdict, unknown string) {
	if v.V16.Phase == v.V17.Phase && v.V16.Data == v.V17.Data {
		return v.V17, ""
	}
	for _, known := range versionDifferences {
		if known.isThis(v) && (d.introspects() || v.V16.Data == "" || v.V17.Data == "") {
			return known.right(v), ""
		}
	}
	return v.V17, "graphql-js 16: " + v.V16.kind() + " " + general(v.V16.Message) + "; graphql-js 17: " + v.V17.kind() + " " + general(v.V17.Message)
}

// general returns a message without what it quotes.
func general(message string) string {
	parts := strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune("\"`$0123456789", r) })
	for i := range parts {
		if i%2 == 1 {
			parts[i] = "…"
		}
	}
	return strings.Join(parts, "")
}
