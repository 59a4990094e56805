package documents

import "github.com/vektah/gqlparser/v2/ast"

// The schema's directives of fields that depend on the signed-in user, and of fields of views.
const (
	viewerDirective = "viewer"
	viewDirective   = "view"
)

// selects reports whether an operation of a valid document selects a field that has a directive in
// the schema, directly or in a fragment. It does not evaluate @skip and @include.
func selects(schema *ast.Schema, document *ast.QueryDocument, operation *ast.OperationDefinition, directive string) bool {
	w := directiveWalker{schema, document, directive, map[string]bool{}}
	return w.find(operation.SelectionSet)
}

// directiveWalker looks for a field with a directive. It visits each fragment once.
type directiveWalker struct {
	schema    *ast.Schema
	document  *ast.QueryDocument
	directive string
	seen      map[string]bool // names of fragments
}

func (w directiveWalker) find(selections ast.SelectionSet) bool {
	for _, selection := range selections {
		found := false
		switch s := selection.(type) {
		case *ast.Field:
			found = w.has(s) || w.find(s.SelectionSet)
		case *ast.InlineFragment:
			found = w.find(s.SelectionSet)
		case *ast.FragmentSpread:
			if !w.seen[s.Name] {
				w.seen[s.Name] = true
				found = w.find(w.document.Fragments.ForName(s.Name).SelectionSet)
			}
		}
		if found {
			return true
		}
	}
	return false
}

// has reports whether a field has the directive. A field of an interface has it too if that of any
// type with the interface does.
func (w directiveWalker) has(field *ast.Field) bool {
	if field.Definition.Directives.ForName(w.directive) != nil {
		return true
	}
	for _, possible := range w.schema.GetPossibleTypes(field.ObjectDefinition) {
		definition := possible.Fields.ForName(field.Name)
		if definition != nil && definition.Directives.ForName(w.directive) != nil {
			return true
		}
	}
	return false
}
