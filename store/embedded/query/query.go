package query

import (
	"fmt"

	"cosmosblog/store/embedded/value"
)

// MaxText is how long the text of a query may be, in bytes (limits page of Azure Cosmos DB: 512 KB). The caller
// refuses what is longer.
const MaxText = 512 << 10

// SyntaxError says where in a query's text the language ends, and why. It is what Parse, ParseCondition and Bind
// return; the service answers 400 to such a query.
type SyntaxError struct {
	Offset  int // in bytes, from 0
	Line    int // from 1
	Column  int // in characters, from 1
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, at line %d, column %d", e.Message, e.Line, e.Column)
}

// Parameters are the values of a query's parameters by name, the "@" included.
type Parameters map[string]value.Value

// Query is a parsed query. It never changes: it may be kept, and bound by several goroutines at once.
type Query struct {
	text string
	tree tree
}

// Parse reads a query. Errors: *SyntaxError.
func Parse(text string) (*Query, error) { return parse(text, (*parser).query) }

// ParseCondition reads the condition of a patch, "from c where …". Errors: *SyntaxError.
func ParseCondition(text string) (*Query, error) { return parse(text, (*parser).condition) }

// Op is how a Condition compares.
type Op uint8

const (
	Eq Op = iota
	Less
	LessEq
	Greater
	GreaterEq
	In // equal to one of several values
)

// Condition is a comparison of an item's property with a constant that every result of the query satisfies. A
// comparison holds between values of one type only: a range begins and ends with the type of its value. Values has one
// value, or one and more for In; none is undefined, and that of a range is neither an array nor an object.
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
