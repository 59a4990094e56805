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
type Query struct{}

// Parse reads a query. Errors: *SyntaxError.
func Parse(text string) (*Query, error) { panic("not built yet") }

// ParseCondition reads the condition of a patch, "from c where …". Errors: *SyntaxError.
func ParseCondition(text string) (*Query, error) { panic("not built yet") }

// String gives the query's canonical text; Parse makes an equal query of it.
func (q *Query) String() string { panic("not built yet") }

// Bind puts values in the place of the parameters. Errors: *SyntaxError, at the place of a parameter that is not given
// or of a TOP, OFFSET or LIMIT that is not a whole number from 0.
func (q *Query) Bind(p Parameters) (*Bound, error) { panic("not built yet") }

// Bound is a query with its parameters' values, ready to run. It never changes and may be run by several goroutines
// at once.
type Bound struct{}

// Op is how a Condition compares.
type Op uint8

const (
	Eq Op = iota
	Less
	LessEq
	Greater
	GreaterEq
	In
)

// Condition is a comparison of an item's property with a constant that every result of the query satisfies. A
// comparison holds between values of one type only: a range begins and ends with the type of its value. Values has one
// value, or one and more for In; none is undefined.
type Condition struct {
	Path   []string
	Op     Op
	Values []value.Value
}

// Conditions are the conjuncts of WHERE that compare a property with a constant, BETWEEN as two of them. They are
// necessary, not sufficient: Run evaluates the whole WHERE in any case.
func (b *Bound) Conditions() []Condition { panic("not built yet") }

// Disjuncts gives a list of conditions for each arm of a WHERE that is an OR, and one list for a WHERE that is not. It
// is nil where there is an arm without conditions, so that everything must be read: every result satisfies all
// conditions of at least one list. A result may satisfy several lists.
func (b *Bound) Disjuncts() [][]Condition { panic("not built yet") }

// OrderItem is one property of ORDER BY.
type OrderItem struct {
	Path       []string
	Descending bool
}

// Order gives the properties of ORDER BY, or nil.
func (b *Bound) Order() []OrderItem { panic("not built yet") }

// Streams tells whether a source in the order of Order gives at most one row for each document, in the source's order,
// so that a query can go on from where the source stopped: no aggregate, no DISTINCT.
func (b *Bound) Streams() bool { panic("not built yet") }

// RefusedAcrossPartitions names the clause for which a gateway refuses the query across partitions ("ORDER BY", "TOP",
// "OFFSET LIMIT", "DISTINCT", "an aggregate"), or is "".
func (b *Bound) RefusedAcrossPartitions() string { panic("not built yet") }

// CountsOnly tells whether the query only counts (SELECT VALUE COUNT(…)), which the service answers from the index
// alone: it is charged less.
func (b *Bound) CountsOnly() bool { panic("not built yet") }

// Matches evaluates WHERE alone: whether it is exactly true of doc.
func (b *Bound) Matches(doc value.Value) bool { panic("not built yet") }

// Document is an item as a source gives it.
type Document struct {
	Text []byte // the item's JSON, which is the row of SELECT *
	Root value.Value
}

// Source gives one item after another, then ok is false. An error ends the query, whose Next returns it.
type Source func() (doc Document, ok bool, err error)

// Progress is how far OFFSET and TOP or LIMIT have come: how many rows were skipped, and how many were given.
type Progress struct {
	Skipped int `json:"skipped"`
	Taken   int `json:"taken"`
}

// Run evaluates the query over source. sorted says that the source is in the order of Order already; otherwise Rows
// reads all of it and sorts.
//
// from is the Progress of the Rows that this run goes on with, zero for a first run. Where the query Streams and there
// is no sorting to be done, source must go on where it stopped. Otherwise source must begin at its beginning, and the
// rows that were given already are left out.
func (b *Bound) Run(source Source, sorted bool, from Progress) *Rows { panic("not built yet") }

// Rows gives a query's results one by one. It is for one goroutine.
type Rows struct{}

// Next gives the JSON text of the next result, which the caller may keep and must not change: SELECT * gives
// Document.Text itself. It does not read the source once TOP or LIMIT is reached. Errors: the source's.
func (r *Rows) Next() (row []byte, ok bool, err error) { panic("not built yet") }

// Progress tells how far the rows have come, to go on from there with a later Run.
func (r *Rows) Progress() Progress { panic("not built yet") }
