package documents

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/documents/syntax"
	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

// checkTree checks a parsed document against the limits before it is validated, by counting its
// parts as they are written. Some rules of validation take time and memory that grow with the
// square of a query. The error is one for the client: LIMIT_EXCEEDED, or GRAPHQL_PARSE_FAILED if
// there is no operation.
func checkTree(document *ast.QueryDocument, l limits.Limits) *gqlerror.Error {
	found := sizesOf(document)
	at := document.Position
	switch {
	case len(document.Operations) == 0:
		return syntax.Errorf(blog.GraphQLParseFailed, at, "The query has no operation.")
	case len(document.Operations)+len(document.Fragments) > l.Definitions:
		return syntax.AboveLimit(at, "The query has more than %d operations and fragments.", l.Definitions)
	case found.fields > l.Fields:
		return syntax.AboveLimit(at, "The query has more than %d fields.", l.Fields)
	case found.aliases > l.Aliases:
		return syntax.AboveLimit(at, "The query has more than %d aliases.", l.Aliases)
	case found.directives > l.Directives:
		return syntax.AboveLimit(at, "The query has more than %d directives.", l.Directives)
	}
	if err := checkLoad(document, l); err != nil {
		return err
	}
	return checkDepth(document, l.Depth)
}

// sizes counts the parts of a document, an operation or a fragment, as they are written.
type sizes struct {
	fields, aliases, directives int
	load                        load
	spreads                     []string // the names of spread fragments
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

// count adds selections and directives that validation visits the given number of times.
func (s *sizes) count(selections ast.SelectionSet, directives ast.DirectiveList, times int) {
	s.directives += len(directives)
	for _, directive := range directives {
		s.load.add(0, times*argumentBytes(directive.Arguments))
	}
	for _, selection := range selections {
		switch node := selection.(type) {
		case *ast.Field:
			s.fields++
			s.load.add(times, times*argumentBytes(node.Arguments))
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

// checkDepth checks operations against the limit of nested fields.
func checkDepth(document *ast.QueryDocument, limit int) *gqlerror.Error {
	d := depths{document: document, fragments: map[string]int{}}
	for _, operation := range document.Operations {
		if d.of(operation.SelectionSet) > limit {
			return syntax.AboveLimit(operation.Position, "The query is nested deeper than %d fields.", limit)
		}
	}
	return nil
}

// depths measures the depth of selections. It measures each fragment once, so that nested spreads
// do not multiply its work.
type depths struct {
	document  *ast.QueryDocument
	fragments map[string]int // measured depths, by name
}

// of returns the depth of selections. Introspection does not count, because it has its own limit.
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

// ofFragment returns the depth of a fragment. A fragment that spreads itself counts as 0 there; a
// validation rule rejects it later.
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
