package graph

import (
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// selection is what an operation selects of an object.
type selection struct {
	// fields are the fields in the order of the response. If it is empty, gqlgen resolves all.
	fields []selectedField
	// resolved are the fields that gqlgen resolves, in the same order: without fragments, and with
	// merged selection sets.
	resolved ast.SelectionSet
}

// selectedField is a field of a selection.
type selectedField struct {
	plain string     // the name of a plain field in the schema; empty if gqlgen resolves it
	alias string     // the name in the response
	of    *selection // of an object or list
}

// isPlain reports whether all fields are plain.
func (s *selection) isPlain() bool { return len(s.fields) > 0 && len(s.resolved) == 0 }

// findPlain reports whether the Go type of an object has a plain value for a field. It returns the
// selection of an object or list.
type findPlain func(field graphql.CollectedField) (of *selection, isPlain bool)

// newSelection returns the selection with fields that gqlgen has collected.
func newSelection(fields []graphql.CollectedField, find findPlain) *selection {
	s := &selection{fields: make([]selectedField, 0, len(fields))}
	for _, field := range fields {
		f := selectedField{alias: field.Alias}
		if of, isPlain := find(field); isPlain && (of == nil || of.isPlain()) {
			f.plain, f.of = field.Name, of
		}
		same := s.byAlias(f.alias)
		switch {
		case field.IsDeferred():
			return new(selection)
		case same != nil && f.plain != "" && f.plain == same.plain && f.of == nil:
			continue // gqlgen also writes it once
		case same != nil:
			return new(selection)
		case f.plain == "":
			merged := *field.Field
			merged.SelectionSet = field.Selections
			s.resolved = append(s.resolved, &merged)
		}
		s.fields = append(s.fields, f)
	}
	if len(s.resolved) == len(s.fields) {
		return new(selection)
	}
	return s
}

// byAlias returns the field with an alias, or nil.
func (s *selection) byAlias(alias string) *selectedField {
	i := slices.IndexFunc(s.fields, func(f selectedField) bool { return f.alias == alias })
	if i < 0 {
		return nil
	}
	return &s.fields[i]
}

// selections holds the selections of an operation, so that each is computed once and not for each
// object. The zero value is ready to use. It may be used concurrently.
type selections struct {
	mu    sync.RWMutex
	known map[selectionKey]*selection
}

// selectionKey identifies a selection set of the document, and the type of the object.
type selectionKey struct {
	first    *ast.Selection
	length   int
	typeName string
}

// of returns the selection of a selection set on a type of the schema. implementors are the names
// of the type and its interfaces.
func (s *selections) of(operation *graphql.OperationContext, set ast.SelectionSet, implementors []string, find findPlain) *selection {
	if len(set) == 0 {
		return &selection{}
	}
	key := selectionKey{&set[0], len(set), implementors[0]}
	s.mu.RLock()
	known := s.known[key]
	s.mu.RUnlock()
	if known != nil {
		return known
	}
	computed := newSelection(graphql.CollectFields(operation, set, implementors), find)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[key]; known != nil {
		return known
	}
	if s.known == nil {
		s.known = map[selectionKey]*selection{}
	}
	s.known[key] = computed
	return computed
}
