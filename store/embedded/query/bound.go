package query

import (
	"math"

	"cosmosblog/store/embedded/value"
)

// Bound is a query with its parameters' values, ready to run. It never changes and may be run by several goroutines
// at once.
type Bound struct {
	tree   *tree
	where  expression // folded, nil without WHERE
	filter evaluator  // of where
	row    evaluator  // of the selections, nil for SELECT *

	aggregates []*aggregate // folded
	arguments  []evaluator  // of the aggregates

	offset int
	take   int // by TOP and LIMIT
}

// unlimited is the take of a query with neither TOP nor LIMIT.
const unlimited = math.MaxInt

// Bind puts values in the place of the parameters. Errors: *SyntaxError, at the place of a parameter that is not given
// or of a TOP, OFFSET or LIMIT that is not a whole number from 0.
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
		bound.filter = bound.where.compile()
	}
	bound.row = b.row(t)
	bound.aggregates = b.aggregates
	for _, a := range b.aggregates {
		bound.arguments = append(bound.arguments, a.argument.compile())
	}
	return bound
}

// row compiles the selections to the value of a row.
func (b *binder) row(t *tree) evaluator {
	if t.star {
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

// Conditions are the conjuncts of WHERE that compare a property with a constant, BETWEEN as two of them. They are
// necessary, not sufficient: Run evaluates the whole WHERE in any case.
func (b *Bound) Conditions() []Condition {
	if b.where == nil {
		return nil
	}
	return conditions(b.where)
}

// Disjuncts gives a list of conditions for each arm of a WHERE that is an OR, and one list for a WHERE that is not. It
// is nil where there is an arm without conditions, so that everything must be read: every result satisfies all
// conditions of at least one list. A result may satisfy several lists.
func (b *Bound) Disjuncts() [][]Condition {
	if b.where == nil {
		return nil
	}
	arms := flatten(nil, b.where, "OR")
	lists := make([][]Condition, len(arms))
	for i, arm := range arms {
		if lists[i] = conditions(arm); len(lists[i]) == 0 {
			return nil
		}
	}
	return lists
}

// Order gives the properties of ORDER BY, or nil. The caller must not change them, nor the paths of Conditions.
func (b *Bound) Order() []OrderItem { return b.tree.order }

// Streams tells whether a source in the order of Order gives at most one row for each document, in the source's order,
// so that a query can go on from where the source stopped: no aggregate, no DISTINCT, and a FROM.
func (b *Bound) Streams() bool {
	return b.tree.aggregates == 0 && !b.tree.distinct && b.tree.collection != ""
}

// RefusedAcrossPartitions names the clause for which a gateway refuses the query across partitions ("ORDER BY", "TOP",
// "OFFSET LIMIT", "DISTINCT", "an aggregate"), or is "".
func (b *Bound) RefusedAcrossPartitions() string {
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

// CountsOnly tells whether the query only counts (one selection, which is COUNT), which the service answers from the
// index alone: it is charged less.
func (b *Bound) CountsOnly() bool {
	if len(b.tree.selections) != 1 {
		return false
	}
	a, ok := b.tree.selections[0].expression.(*aggregate)
	return ok && a.name == "COUNT"
}

// SelectsValue tells whether the query is one of SELECT VALUE, whose results need not be objects.
func (b *Bound) SelectsValue() bool { return b.tree.value }

// Matches evaluates WHERE alone: whether it is exactly true of doc.
func (b *Bound) Matches(doc value.Value) bool {
	return b.filter == nil || b.filter(&scope{item: doc}).IsTrue()
}
