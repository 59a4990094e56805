package httpapi

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// rules gives the rules of one validation: GraphQL's own, and outside of development that nobody looks at the schema, and
// that nothing hints at its names. An answer shows few errors, so further ones are not even written.
func (d *documents) rules() *rules.Rules {
	all := rules.NewDefaultRules()
	if !d.development {
		hush(all)
		all.AddRule(noIntrospection.Name, noIntrospection.RuleFunc)
	}
	left := d.limits.Errors
	for name, rule := range all.GetInner() {
		all.ReplaceRule(name, func(observers *core.Events, addError core.AddErrFunc) {
			rule(observers, func(options ...core.ErrorOption) {
				if left > 0 {
					addError(options...)
				}
				left--
			})
		})
	}
	return all
}

// hush puts the quiet twins of the rules that make suggestions in their places.
func hush(all *rules.Rules) {
	for loud, quiet := range map[string]core.Rule{
		rules.FieldsOnCorrectTypeRule.Name: rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRule.Name:  rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRule.Name:      rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRule.Name:         rules.ScalarLeafsRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRule.Name: rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		all.ReplaceRule(loud, quiet.RuleFunc)
	}
}

var noIntrospection = core.Rule{Name: "NoIntrospection", RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
	observers.OnField(func(_ *core.Walker, field *ast.Field) {
		if field.Name == "__schema" || field.Name == "__type" {
			addError(core.Message("Introspection is off on this server."), core.At(field.Position))
		}
	})
}}
