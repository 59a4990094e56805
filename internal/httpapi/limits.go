package httpapi

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

// tooMuch is the complaint of a limit, at the place where there is one.
func tooMuch(at *ast.Position, format string, args ...any) *gqlerror.Error {
	err := blog.Errorf(blog.BadUserInput, format, args...)
	fault := &gqlerror.Error{Err: err, Message: err.Message}
	if at != nil {
		fault.Locations = []gqlerror.Location{{Line: at.Line, Column: at.Column}}
	}
	return fault
}

// checkSize holds a document to the limits, by counting what is written in it.
func checkSize(document *ast.QueryDocument, l limits.Limits) *gqlerror.Error {
	found := sizesOf(document)
	at := document.Position
	switch {
	case len(document.Operations)+len(document.Fragments) > l.Definitions:
		return tooMuch(at, "The query has more than %d operations and fragments.", l.Definitions)
	case found.fields > l.Fields:
		return tooMuch(at, "The query has more than %d fields.", l.Fields)
	case found.aliases > l.Aliases:
		return tooMuch(at, "The query has more than %d aliases.", l.Aliases)
	case found.directives > l.Directives:
		return tooMuch(at, "The query has more than %d directives.", l.Directives)
	}
	if fault := checkLoad(document, l); fault != nil {
		return fault
	}
	return checkDepth(document, l.Depth)
}

// sizes is how much of everything a part of a document has, as it is written.
type sizes struct {
	fields, aliases, directives int
	load                        load
	spreads                     []string // the fragments that it names
}

func sizesOf(document *ast.QueryDocument) sizes {
	var s sizes
	for _, operation := range document.Operations {
		s.count(operation.SelectionSet, operation.Directives, 1)
		for _, variable := range operation.VariableDefinitions {
			s.directives += len(variable.Directives)
		}
	}
	for _, fragment := range document.Fragments {
		s.count(fragment.SelectionSet, fragment.Directives, 1)
	}
	return s
}

// count counts selections, by which validation comes so many times.
func (s *sizes) count(selections ast.SelectionSet, directives ast.DirectiveList, times int) {
	s.directives += len(directives)
	for _, directive := range directives {
		s.load.add(0, times*textOf(directive.Arguments))
	}
	for _, selection := range selections {
		switch node := selection.(type) {
		case *ast.Field:
			s.fields++
			s.load.add(times, times*textOf(node.Arguments))
			if node.Alias != node.Name {
				s.aliases++
			}
			s.count(node.SelectionSet, node.Directives, times)
		case *ast.InlineFragment:
			s.count(node.SelectionSet, node.Directives, times+1)
		case *ast.FragmentSpread:
			s.load.add(times, 0)
			s.count(nil, node.Directives, times)
			s.spreads = append(s.spreads, node.Name)
		}
	}
}

// checkDepth holds operations to the limit of fields within fields.
func checkDepth(document *ast.QueryDocument, most int) *gqlerror.Error {
	d := depths{document: document, fragments: map[string]int{}}
	for _, operation := range document.Operations {
		if d.of(operation.SelectionSet) > most {
			return tooMuch(operation.Position, "The query is nested deeper than %d fields.", most)
		}
	}
	return nil
}

// depths measures how deep selections go. A fragment is measured once, so that fragments that spread one another many
// times take no longer.
type depths struct {
	document  *ast.QueryDocument
	fragments map[string]int
}

// of does not count introspection, which has a limit of its own.
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

// ofFragment counts a fragment that spreads itself as 0 inside itself: a rule refuses it.
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
