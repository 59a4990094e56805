package query

import (
	"fmt"

	"cosmosblog/engine/value"
)

// MaxText is the maximum length of a query's text in bytes (limits page of Azure Cosmos DB: 512
// KB). The caller must reject a longer text.
const MaxText = 512 << 10

// SyntaxError reports an invalid or unsupported query and the position of the fault. Parse,
// ParseCondition and Bind return it. The service answers such a query with 400.
type SyntaxError struct {
	Offset  int // in bytes, from 0
	Line    int // from 1
	Column  int // in characters, from 1
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, at line %d, column %d", e.Message, e.Line, e.Column)
}

// Parameters maps the names of a query's parameters, including the "@", to their values.
type Parameters map[string]value.Value

// Query is a parsed query. It is immutable: it may be cached, and several goroutines may bind it
// at once.
type Query struct {
	text string
	tree tree
}

// Parse parses a query. It returns a *SyntaxError if the text is not a supported query.
func Parse(text string) (*Query, error) { return parse(text, (*parser).query) }

// ParseCondition parses the condition of a patch, "from c where …". It returns a *SyntaxError if
// the text is not a supported condition.
func ParseCondition(text string) (*Query, error) { return parse(text, (*parser).condition) }

// Op is the comparison operator of a Condition.
type Op uint8

const (
	Eq Op = iota
	Less
	LessEq
	Greater
	GreaterEq
	In // equal to one of several values
)

// Condition is a comparison between a property of the item and a constant. Every result of the
// query satisfies it.
//
// A comparison only holds between values of one type, so a range is bounded by the type of its
// value. Values holds one value, or at least one if Op is In. No value is undefined, and the
// value of a range is neither an array nor an object.
type Condition struct {
	Path   []string
	Op     Op
	Values []value.Value
}

// OrderItem is one property of ORDER BY.
type OrderItem struct {
	Path       []string
	Descending bool
}
