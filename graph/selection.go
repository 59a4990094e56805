package graph

import (
	"slices"
	"sync"
	"sync/atomic"

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
	// number identifies the selection if several requests use it. Otherwise, it is 0.
	number uint64
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

// Selections holds what an operation of a document selects of objects, so that each selection is
// computed once and not for each object and request. It may be used concurrently.
//
// gqlgen caches the fields that it collects from a selection set until the operation ends, by the
// set's address in memory. So an address must name one set for as long as the operation runs: if
// the set were released before, the next set at its address would get its fields. The sets of the
// document live as long as the document, and those that gqlgen merges are held by its cache. The
// sets that this package makes, selection.resolved, live as long as the Selections, which the
// operation holds. A selection that is not kept must therefore have no such set.
type Selections struct {
	mu    sync.RWMutex
	known map[selectionKey]knownSelection
	room  int // for fields of known selections

	isShared bool // by requests
}

// numbered counts the selections with a number.
var numbered atomic.Uint64

// selectionKey finds a selection set and the type of the object. Few sets have the same key.
type selectionKey struct {
	first    ast.Selection
	length   int
	typeName string
}

type knownSelection struct {
	set ast.SelectionSet
	*selection
}

// SelectionBytes is the memory that a Selections takes at most for each field of its room.
const SelectionBytes = 288

// NewSelections returns a Selections with room for a number of fields. The fields of further
// selections are computed whenever they are used.
func NewSelections(room int) *Selections {
	return &Selections{known: map[selectionKey]knownSelection{}, room: room, isShared: true}
}

// selectionsExtension is the key of the Selections in the statistics of an operation.
const selectionsExtension = "selections"

// SetSelections makes a request use what earlier requests of the same operation have computed. No
// field of the operation may depend on a variable, as those with @skip and @include can.
func SetSelections(operation *graphql.OperationContext, s *Selections) {
	operation.Stats.SetExtension(selectionsExtension, s)
}

// maxRequestSelections limits the known selections of a request without SetSelections, in fields.
// An operation of usual size has less than a tenth.
const maxRequestSelections = 1000

// selectionsOf returns those of SetSelections, or new ones.
func selectionsOf(operation *graphql.OperationContext) *Selections {
	if s, ok := operation.Stats.GetExtension(selectionsExtension).(*Selections); ok {
		return s
	}
	return &Selections{known: map[selectionKey]knownSelection{}, room: maxRequestSelections}
}

// of returns the selection of a selection set on a type of the schema. implementors are the names
// of the type and its interfaces.
func (s *Selections) of(operation *graphql.OperationContext, set ast.SelectionSet, implementors []string, find findPlain) *selection {
	if len(set) == 0 {
		return &selection{}
	}
	key := selectionKey{set[0], len(set), implementors[0]}
	s.mu.RLock()
	known, ok := s.known[key]
	s.mu.RUnlock()
	if ok && slices.Equal(known.set, set) {
		return known.selection
	}
	computed := newSelection(graphql.CollectFields(operation, set, implementors), find)
	return s.keep(key, set, computed)
}

// keep keeps a computed selection, and returns it. If an equal one is known already, keep returns
// that one. If there is no room, gqlgen resolves all fields of a selection that has a set of its
// own.
func (s *Selections) keep(key selectionKey, set ast.SelectionSet, computed *selection) *selection {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[key]
	switch {
	case ok && slices.Equal(known.set, set):
		return known.selection
	case !ok && len(set) <= s.room:
		if s.isShared {
			computed.number = numbered.Add(1)
		}
		s.room -= len(set)
		s.known[key] = knownSelection{set, computed}
	case len(computed.resolved) > 0:
		return &selection{}
	}
	return computed
}
