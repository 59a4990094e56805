package query

import (
	"math"

	"cosmosblog/engine/value"
)

// Bound is a query with its parameter values, ready to run. It is immutable, and several
// goroutines may run it at once.
type Bound struct {
	tree    *tree
	where   expression // folded, nil without WHERE
	indexed evaluator  // of the conjuncts of where that indexes answer; nil if there are none
	filter  evaluator  // of the other conjuncts; nil if there are none
	row     evaluator  // of the selections, nil if the rows are whole items

	aggregates []*aggregate // folded
	arguments  []evaluator  // of the aggregates

	offset int
	take   int // maximum number of rows, from TOP and LIMIT

	conditions   []Condition // of where
	indexedPaths [][]string  // of indexed

	reads     []string // top properties that the query reads
	sortReads []string // the same if Rows sorts the items
	readsItem bool     // the query also reads the item as a whole
}

// unlimited is the maximum number of rows of a query without TOP and LIMIT.
const unlimited = math.MaxInt

// Bind replaces the parameters with their values. It returns a *SyntaxError if a parameter has
// no value, or if TOP, OFFSET or LIMIT is not a non-negative whole number. The error's position
// is that of the parameter. Bind also returns one, at position 0, if the constant expressions
// take too much memory or time.
func (q *Query) Bind(p Parameters) (bound *Bound, err error) {
	defer recoverSyntaxError(&err)
	b := &binder{parameters: p, text: q.text, aggregates: make([]*aggregate, q.tree.aggregates)}
	return b.bind(&q.tree), nil
}

func (b *binder) bind(t *tree) *Bound {
	bound := &Bound{
		tree:   t,
		offset: b.count(t.offset, 0),
		take:   min(b.count(t.top, unlimited), b.count(t.limit, unlimited)),
	}
	if t.where != nil {
		bound.where = t.where.fold(b)
		bound.conditions = conditions(bound.where)
		bound.compileWhere()
	}
	bound.row = b.row(t)
	bound.aggregates = b.aggregates
	for _, a := range b.aggregates {
		bound.arguments = append(bound.arguments, a.argument.compile())
	}
	bound.reads, bound.readsItem = b.reads, b.readsItem || t.returnsItem() && t.distinct
	for _, o := range t.order {
		b.read(o.Path[0])
	}
	b.read("id") // orders equal items
	bound.sortReads = b.reads
	return bound
}

// Parse parses the parts of an item that the query reads. The result can be the Root of a
// Document of a Run with the same value of sorted, and has no other use. text must be one that
// value.Append wrote. Parse returns a *value.SyntaxError if it finds that the text is not JSON.
func (b *Bound) Parse(text []byte, sorted bool) (value.Value, error) {
	switch {
	case b.readsItem:
		return value.Parse(text)
	case b.sorts(sorted):
		return value.ParseProperties(text, b.sortReads)
	}
	return value.ParseProperties(text, b.reads)
}

// sorts reports whether Rows sorts the items of a source. It does not for an aggregate, which has
// one row.
func (b *Bound) sorts(sorted bool) bool { return b.isOrdered() && !sorted }

// isOrdered reports whether ORDER BY has an effect.
func (b *Bound) isOrdered() bool { return len(b.tree.order) > 0 && b.tree.aggregates == 0 }

// row compiles the selections into an evaluator of a row. It returns nil if the rows are whole
// items.
func (b *binder) row(t *tree) evaluator {
	if t.returnsItem() {
		return nil
	}
	selections := make([]expression, len(t.selections))
	for i, s := range t.selections {
		selections[i] = s.expression.fold(b)
	}
	if t.value {
		return selections[0].compile()
	}
	return compileObject(t.outputNames(), selections)
}

// Conditions returns the conjuncts of WHERE that compare a property with a constant. BETWEEN
// counts as two conditions. The conditions are necessary but not sufficient: Run always
// evaluates the whole WHERE.
func (b *Bound) Conditions() []Condition { return b.conditions }

// Disjuncts returns one list of conditions for each arm of OR in WHERE, or one list if WHERE is
// not an OR. Every result satisfies all conditions of at least one list, and may satisfy several
// lists. Disjuncts returns nil if an arm has no conditions, because then every item must be
// read.
func (b *Bound) Disjuncts() [][]Condition {
	if b.where == nil {
		return nil
	}
	arms := flatten(nil, b.where, "OR")
	if len(arms) == 1 && len(b.conditions) > 0 {
		return [][]Condition{b.conditions}
	}
	lists := make([][]Condition, len(arms))
	for i, arm := range arms {
		if lists[i] = conditions(arm); len(lists[i]) == 0 {
			return nil
		}
	}
	return lists
}

// IndexedPaths returns the properties by which indexes find the documents that Rows.Loaded counts.
// The caller must not change them.
func (b *Bound) IndexedPaths() [][]string { return b.indexedPaths }

// Order returns the properties of ORDER BY, or nil. The caller must not change them, nor the
// paths of Conditions.
func (b *Bound) Order() []OrderItem { return b.tree.order }

// Offset returns the number of rows that OFFSET skips.
func (b *Bound) Offset() int { return b.offset }

// Streams reports whether the query returns at most one row for each document, in the order of
// the source. A later Run can then resume where the source stopped. This holds for queries with
// FROM and without aggregates or DISTINCT, if the source is in the order of Order.
func (b *Bound) Streams() bool {
	return b.tree.aggregates == 0 && !b.tree.distinct && b.tree.collection != ""
}

// RejectedAcrossPartitions returns the clause for which a gateway rejects this query across
// partitions: "ORDER BY", "TOP", "OFFSET LIMIT", "DISTINCT" or "an aggregate". It returns "" if
// the gateway accepts the query.
func (b *Bound) RejectedAcrossPartitions() string {
	switch t := b.tree; {
	case len(t.order) > 0:
		return "ORDER BY"
	case t.top != nil:
		return "TOP"
	case t.offset != nil:
		return "OFFSET LIMIT"
	case t.distinct:
		return "DISTINCT"
	case t.aggregates > 0:
		return "an aggregate"
	}
	return ""
}

// CountsOnly reports whether COUNT is the only selection. The service answers such a query from
// the index alone and charges less.
func (b *Bound) CountsOnly() bool {
	if len(b.tree.selections) != 1 {
		return false
	}
	a, ok := b.tree.selections[0].expression.(*aggregate)
	return ok && a.name == "COUNT"
}

// SelectsValue reports whether the query uses SELECT VALUE. Its results need not be objects.
func (b *Bound) SelectsValue() bool { return b.tree.value }

// Matches evaluates only WHERE. It reports whether WHERE is exactly true for doc.
func (b *Bound) Matches(doc value.Value) bool {
	s := &scope{item: doc}
	return (b.indexed == nil || b.indexed(s).IsTrue()) && (b.filter == nil || b.filter(s).IsTrue())
}
