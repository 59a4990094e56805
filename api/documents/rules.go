package documents

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"cosmosblog/api/coercion"
)

// validate checks a document against the validation rules. It returns at most limits.Errors
// violations.
//
// The rule that overlapping fields can be merged runs last, and only if no other rule is
// violated. Before it reports anything, that rule records the conflicts of all pairs of fields in
// a selection set.
func (d *Documents) validate(document *ast.QueryDocument) (violations gqlerror.List) {
	c := collector{limit: d.limits.Errors}
	defer func() {
		if recovered := recover(); recovered != nil && recovered != (limitReached{}) {
			panic(recovered)
		}
		violations = c.violations
	}()
	first, last := d.rules(&c)
	validator.ValidateWithRules(d.schema, document, first)
	if len(c.violations) == 0 {
		validator.ValidateWithRules(d.schema, document, last)
	}
	return c.violations
}

// collector collects the violations that the rules find, up to the number that a response shows.
// It then aborts the validation with a panic: further violations would cost as much and never be
// shown.
type collector struct {
	violations gqlerror.List
	limit      int
}

// limitReached is the panic value that aborts a validation.
type limitReached struct{}

func (c *collector) add(rule string, options []core.ErrorOption) {
	violation := &gqlerror.Error{Rule: rule}
	for _, option := range options {
		option(violation)
	}
	c.violations = append(c.violations, violation)
	if len(c.violations) == c.limit {
		panic(limitReached{})
	}
}

// rules returns the rules of one validation, and the rule that runs after them. They are
// GraphQL's own. Outside of development, introspection is disabled too, and no error suggests
// names of the schema.
func (d *Documents) rules(c *collector) (first, last *rules.Rules) {
	first, last = rules.NewDefaultRules(), rules.NewRules()
	replaceRule(first, coercion.Literals(d.development))
	replaceRule(first, singleRootField)
	if !d.development {
		removeSuggestions(first)
		first.AddRule(noIntrospection.Name, noIntrospection.RuleFunc)
	}
	for name, rule := range first.GetInner() {
		first.ReplaceRule(name, func(observers *core.Events, _ core.AddErrFunc) {
			rule(observers, func(options ...core.ErrorOption) { c.add(name, options) })
		})
	}
	merging := rules.OverlappingFieldsCanBeMergedRule.Name
	last.AddRule(merging, first.GetInner()[merging])
	first.RemoveRule(merging)
	return first, last
}

// replaceRule replaces gqlparser's rule of the same name.
func replaceRule(all *rules.Rules, by core.Rule) {
	if all.GetInner()[by.Name] == nil {
		panic("documents: gqlparser has no rule " + by.Name)
	}
	all.ReplaceRule(by.Name, by.RuleFunc)
}

// singleRootField is the rule "Single Root Field" (section 5.2.4.1) as the edition of September
// 2025 has it. gqlparser's rule takes two fields of different arguments for one, and knows nothing
// of @skip and @include.
var singleRootField = core.Rule{Name: rules.SingleFieldSubscriptionsRule.Name, RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	observers.OnOperation(func(walker *core.Walker, operation *ast.OperationDefinition) {
		if operation.Operation != ast.Subscription {
			return
		}
		var first *ast.Field
		spread := map[string]bool{}
		var visit func(ast.SelectionSet)
		visit = func(selections ast.SelectionSet) {
			for _, selection := range selections {
				forbidConditions(selection, addError)
				switch s := selection.(type) {
				case *ast.Field:
					switch {
					case strings.HasPrefix(s.Name, "__"):
						addError(core.Message("A subscription must not select introspection."), core.At(s.Position))
					case first == nil:
						first = s
					case first.Alias != s.Alias:
						addError(core.Message("A subscription must select one field only."), core.At(s.Position))
					}
				case *ast.InlineFragment:
					visit(s.SelectionSet)
				case *ast.FragmentSpread:
					if s.Definition != nil && !spread[s.Name] {
						spread[s.Name] = true
						visit(s.Definition.SelectionSet)
					}
				}
			}
		}
		visit(operation.SelectionSet)
	})
}}

// forbidConditions reports @skip and @include of a selection.
func forbidConditions(selection ast.Selection, addError core.AddErrFunc) {
	var directives ast.DirectiveList
	switch s := selection.(type) {
	case *ast.Field:
		directives = s.Directives
	case *ast.InlineFragment:
		directives = s.Directives
	case *ast.FragmentSpread:
		directives = s.Directives
	}
	for _, directive := range directives {
		if directive.Name == "skip" || directive.Name == "include" {
			addError(core.Message("The field of a subscription must not have `@%s`.", directive.Name), core.At(directive.Position))
		}
	}
}

// removeSuggestions replaces the rules that make suggestions with their variants that do not.
func removeSuggestions(all *rules.Rules) {
	for name, variant := range map[string]core.Rule{
		rules.FieldsOnCorrectTypeRule.Name: rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRule.Name:  rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRule.Name:      rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRule.Name:         rules.ScalarLeafsRuleWithoutSuggestions,
	} {
		all.ReplaceRule(name, variant.RuleFunc)
	}
}

// noIntrospection rejects queries for the schema.
var noIntrospection = core.Rule{Name: "NoIntrospection", RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	observers.OnField(func(_ *core.Walker, field *ast.Field) {
		if field.Name == "__schema" || field.Name == "__type" {
			addError(core.Message("Introspection is disabled on this server."), core.At(field.Position))
		}
	})
}}
