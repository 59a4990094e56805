package httpapi

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// validate holds a document to the rules. Faults: at most limits.Errors of them. That fields can be merged is looked at last,
// where nothing else is wrong: that rule writes down what every two fields of a set differ in before it complains of any.
func (d *documents) validate(document *ast.QueryDocument) (faults gqlerror.List) {
	c := complaints{most: d.limits.Errors}
	defer func() {
		if recovered := recover(); recovered != nil && recovered != (enough{}) {
			panic(recovered)
		}
		faults = c.faults
	}()
	first, last := d.rules(&c)
	validator.ValidateWithRules(d.schema, document, first)
	if len(c.faults) == 0 {
		validator.ValidateWithRules(d.schema, document, last)
	}
	return c.faults
}

// complaints are what the rules find, until there are as many as an answer shows: then it ends the validation, whose
// further ones would cost as much and be seen by nobody.
type complaints struct {
	faults gqlerror.List
	most   int
}

// enough is the panic that ends a validation.
type enough struct{}

func (c *complaints) add(rule string, options []core.ErrorOption) {
	fault := &gqlerror.Error{Rule: rule}
	for _, option := range options {
		option(fault)
	}
	c.faults = append(c.faults, fault)
	if len(c.faults) == c.most {
		panic(enough{})
	}
}

// rules gives the rules of one validation, and the one that is looked at after them: GraphQL's own, and outside of
// development that nobody looks at the schema, and that nothing hints at its names.
func (d *documents) rules(c *complaints) (first, last *rules.Rules) {
	first, last = rules.NewDefaultRules(), rules.NewRules()
	if !d.development {
		hush(first)
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
