package httpapi

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"cosmosblog/internal/limits"
)

// rulesFor gives what makes the validation rules of a query: GraphQL's own and our limits. Outside of development
// nothing hints at the names of the schema, and introspection is refused.
func rulesFor(l limits.Limits, development bool) func() *rules.Rules {
	return func() *rules.Rules {
		all := rules.NewDefaultRules()
		all.AddRule("MaxDepth", limitDepth(l.Depth))
		all.AddRule("MaxAliases", limitAliases(l.Aliases))
		all.AddRule("MaxDirectives", limitDirectives(l.Directives))
		if !development {
			hush(all)
			all.AddRule(noIntrospection.Name, noIntrospection.RuleFunc)
		}
		return all
	}
}

// hush puts the rules that make suggestions out, and their quiet twins in, where gqlgen's SetDisableSuggestion does not.
func hush(all *rules.Rules) {
	all.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
	all.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
	all.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
}

var noIntrospection = core.Rule{Name: "NoIntrospection", RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	observers.OnField(func(_ *core.Walker, field *ast.Field) {
		if field.Name == "__schema" || field.Name == "__type" {
			addError(core.Message("Introspection is off on this server."), core.At(field.Position))
		}
	})
}}

func limitDepth(most int) core.RuleFunc {
	return func(observers *core.Events, addError core.AddErrFunc) {
		observers.OnOperation(func(walker *core.Walker, operation *ast.OperationDefinition) {
			d := depths{document: walker.Document, fragments: map[string]int{}}
			if d.of(operation.SelectionSet) > most {
				addError(core.Message("The query is nested deeper than %d fields.", most), core.At(operation.Position))
			}
		})
	}
}

// depths measures how deep selections go. A fragment is measured once, so that fragments that spread one another many
// times take no longer.
type depths struct {
	document  *ast.QueryDocument
	fragments map[string]int
}

func (d depths) of(selections ast.SelectionSet) int {
	deepest := 0
	for _, selection := range selections {
		depth := 0
		switch s := selection.(type) {
		case *ast.Field:
			if !strings.HasPrefix(s.Name, "__") {
				depth = 1 + d.of(s.SelectionSet)
			}
		case *ast.InlineFragment:
			depth = d.of(s.SelectionSet)
		case *ast.FragmentSpread:
			depth = d.ofFragment(s.Name)
		}
		deepest = max(deepest, depth)
	}
	return deepest
}

// ofFragment counts a fragment that spreads itself as 0 inside itself: another rule refuses it.
func (d depths) ofFragment(name string) int {
	if depth, ok := d.fragments[name]; ok {
		return depth
	}
	fragment := d.document.Fragments.ForName(name)
	if fragment == nil {
		return 0
	}
	d.fragments[name] = 0
	d.fragments[name] = d.of(fragment.SelectionSet)
	return d.fragments[name]
}

func limitAliases(most int) core.RuleFunc {
	return func(observers *core.Events, addError core.AddErrFunc) {
		count := counter(most, func() { addError(core.Message("The query has more than %d aliases.", most)) })
		observers.OnField(func(_ *core.Walker, field *ast.Field) {
			if field.Alias != field.Name {
				count(field.Position)
			}
		})
	}
}

func limitDirectives(most int) core.RuleFunc {
	return func(observers *core.Events, addError core.AddErrFunc) {
		count := counter(most, func() { addError(core.Message("The query has more than %d directives.", most)) })
		observers.OnDirective(func(_ *core.Walker, directive *ast.Directive) { count(directive.Position) })
	}
}

// counter counts places of a query's text and complains once where there are more than most. The walker comes by a
// fragment again for everything that spreads it; a place counts once.
func counter(most int, complain func()) (count func(at *ast.Position)) {
	seen := map[*ast.Position]struct{}{}
	return func(at *ast.Position) {
		if len(seen) > most {
			return
		}
		seen[at] = struct{}{}
		if len(seen) > most {
			complain()
		}
	}
}
