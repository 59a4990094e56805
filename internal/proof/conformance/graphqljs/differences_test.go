package graphqljs_test

import (
	"slices"
	"strings"
)

// versionDifference is a kind of document that the versions of graphql-js judge differently.
type versionDifference struct {
	name    string
	section string // of the edition of September 2025
	isThis  func(v verdicts) bool
	right   func(v verdicts) verdict
}

func v16(v verdicts) verdict { return v.V16 }
func v17(v verdicts) verdict { return v.V17 }

var versionDifferences = []versionDifference{
	{
		name: "@skip and @include at the root of a subscription, which version 16 evaluates", section: "5.2.4.1",
		isThis: func(v verdicts) bool { return slices.Contains(v.V17.Rules, "SingleFieldSubscriptions") }, right: v17,
	},
	{
		name: "{ } without a selection, which version 17 accepts", section: "2.5",
		isThis: func(v verdicts) bool {
			return v.V16.Phase == "parse" && strings.HasPrefix(v.V16.Message, "Syntax Error: Expected Name, found \"}\"")
		},
		right: v16,
	},
	{
		name: "includeDeprecated: null, which version 16 accepts because the argument's type was nullable", section: "4.2",
		isThis: func(v verdicts) bool {
			return v.V17.Phase != "run" && strings.Contains(v.V17.Message, "null") && v.V16.Phase == "run"
		},
		right: v17,
	},
	{
		name: "other built-in types: version 17 has those of the edition (oracle.js removes what is newer)", section: "3.13, 4.2",
		isThis: func(v verdicts) bool {
			return v.V16.Phase == "run" && v.V17.Phase == "run" && (strings.Contains(v.V17.Data, "__schema") || strings.Contains(v.V17.Data, "__type") || strings.Contains(v.V17.Data, "kind"))
		},
		right: v17,
	},
}

// decide returns the verdict of the specification, and the difference between the versions of
// graphql-js, if there is one that is not known.
func decide(v verdicts) (right verdict, unknown string) {
	if v.V16.Phase == v.V17.Phase && v.V16.Data == v.V17.Data {
		return v.V17, ""
	}
	for _, d := range versionDifferences {
		if d.isThis(v) {
			return d.right(v), ""
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
