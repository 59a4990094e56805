package api_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// relay ends the names of projects of Relay documents. They are apart from the documents *.graphql
// of the same folder.
const relay = " (Relay)"

// relayDocument finds the documents of Relay in TypeScript.
var relayDocument = regexp.MustCompile("\\bgraphql`(\\s*(?:#|query|mutation|subscription|fragment)\\b[^`]*)`")

// relayDocuments returns the documents of Relay in a file of TypeScript, each in its lines.
func relayDocuments(file *ast.Source) *ast.Source {
	var documents strings.Builder
	end := 0
	for _, found := range relayDocument.FindAllStringSubmatchIndex(file.Input, -1) {
		before, document := file.Input[end:found[2]], file.Input[found[2]:found[3]]
		documents.WriteString(strings.Repeat("\n", strings.Count(before, "\n")) + document)
		end = found[3]
	}
	return &ast.Source{Name: file.Name, Input: documents.String()}
}

// removeRelay removes from a document what only Relay's compiler knows, so that all rules of
// GraphQL hold for the rest. Variables that only its directives use are marked as used.
func removeRelay(schema *ast.Schema, document *ast.QueryDocument) error {
	known := func(directives ast.DirectiveList) ast.DirectiveList {
		return slices.DeleteFunc(directives, func(d *ast.Directive) bool { return schema.Directives[d.Name] == nil })
	}
	var events validator.Events
	events.OnOperation(func(_ *validator.Walker, o *ast.OperationDefinition) { o.Directives = known(o.Directives) })
	events.OnFragment(func(_ *validator.Walker, f *ast.FragmentDefinition) { f.Directives = known(f.Directives) })
	events.OnInlineFragment(func(_ *validator.Walker, f *ast.InlineFragment) { f.Directives = known(f.Directives) })
	events.OnFragmentSpread(func(_ *validator.Walker, s *ast.FragmentSpread) { s.Directives = known(s.Directives) })
	events.OnField(func(_ *validator.Walker, f *ast.Field) {
		f.Directives = known(f.Directives)
		if f.Name == "__id" { // of Relay's store
			f.Name = "__typename"
		}
	})
	for _, fragment := range document.Fragments {
		if err := defineArguments(schema, fragment); err != nil {
			return err
		}
	}
	validator.Walk(schema, &ast.QueryDocument{Operations: document.Operations}, &events)
	validator.Walk(schema, &ast.QueryDocument{Fragments: document.Fragments}, &events)
	return nil
}

// defineArguments makes variables of the arguments that a fragment of Relay declares. Their names
// begin with that of the fragment, because they are not those of the operation.
func defineArguments(schema *ast.Schema, fragment *ast.FragmentDefinition) error {
	declared := fragment.Directives.ForName("argumentDefinitions")
	if declared == nil {
		return nil
	}
	var definitions strings.Builder
	for _, argument := range declared.Arguments {
		fmt.Fprintf(&definitions, " $%s_%s: %s", fragment.Name, argument.Name, argument.Value.Children.ForName("type").Raw)
		if value := argument.Value.Children.ForName("defaultValue"); value != nil {
			fmt.Fprintf(&definitions, " = %s", value)
		}
	}
	source := &ast.Source{Name: fragment.Position.Src.Name, Input: "query (" + definitions.String() + ") { __typename }"}
	parsed, err := parser.ParseQuery(source)
	if err != nil {
		return err
	}
	fragment.VariableDefinition = parsed.Operations[0].VariableDefinitions
	for _, definition := range fragment.VariableDefinition {
		definition.Position = declared.Position
	}
	var events validator.Events
	events.OnValue(func(_ *validator.Walker, value *ast.Value) {
		if value.Kind == ast.Variable && declared.Arguments.ForName(value.Raw) != nil {
			value.Raw = fragment.Name + "_" + value.Raw
		}
	})
	validator.Walk(schema, &ast.QueryDocument{Fragments: ast.FragmentDefinitionList{fragment}}, &events)
	return nil
}
