package httpapi

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// The limits of a query's text. The largest queries of the clients that we know, introspection's too, stay far below.
const (
	maxTokens     = 2000
	maxDepth      = 12 // fields within fields; introspection has a limit of its own
	maxAliases    = 30
	maxDirectives = 50
)

// rulesFor gives what makes the validation rules of a query: GraphQL's own and our limits. Outside of development
// nothing hints at the names of the schema, and introspection is refused.
func rulesFor(development bool) func() *rules.Rules {
	return func() *rules.Rules {
		all := rules.NewDefaultRules()
		for _, rule := range limitRules {
			all.AddRule(rule.Name, rule.RuleFunc)
		}
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

var limitRules = []core.Rule{
	{Name: "MaxDepth", RuleFunc: limitDepth},
	{Name: "MaxAliases", RuleFunc: limitAliases},
	{Name: "MaxDirectives", RuleFunc: limitDirectives},
}

var noIntrospection = core.Rule{Name: "NoIntrospection", RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	observers.OnField(func(_ *core.Walker, field *ast.Field) {
		if field.Name == "__schema" || field.Name == "__type" {
			addError(core.Message("Introspection is off on this server."), core.At(field.Position))
		}
	})
}}

func limitDepth(observers *core.Events, addError core.AddErrFunc) {
	observers.OnOperation(func(walker *core.Walker, operation *ast.OperationDefinition) {
		d := depths{document: walker.Document, fragments: map[string]int{}}
		if d.of(operation.SelectionSet) > maxDepth {
			addError(core.Message("The query is nested deeper than %d fields.", maxDepth), core.At(operation.Position))
		}
	})
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

func limitAliases(observers *core.Events, addError core.AddErrFunc) {
	limit(maxAliases, func() {
		addError(core.Message("The query has more than %d aliases.", maxAliases))
	}, func(count func(at *ast.Position)) {
		observers.OnField(func(_ *core.Walker, field *ast.Field) {
			if field.Alias != field.Name {
				count(field.Position)
			}
		})
	})
}

func limitDirectives(observers *core.Events, addError core.AddErrFunc) {
	limit(maxDirectives, func() {
		addError(core.Message("The query has more than %d directives.", maxDirectives))
	}, func(count func(at *ast.Position)) {
		observers.OnDirective(func(_ *core.Walker, directive *ast.Directive) { count(directive.Position) })
	})
}

// limit counts places of a query's text and complains once where there are more than limit. The walker comes by a
// fragment again for everything that spreads it; a place counts once.
func limit(limit int, complain func(), observe func(count func(at *ast.Position))) {
	seen := map[*ast.Position]struct{}{}
	observe(func(at *ast.Position) {
		if len(seen) > limit {
			return
		}
		seen[at] = struct{}{}
		if len(seen) > limit {
			complain()
		}
	})
}
