package query

import (
	"slices"
	"strconv"

	"cosmosblog/store/embedded/value"
)

// expression is a node of the syntax tree. A node never changes once parsed. What is done with nodes stands in files by
// job, one method a node: fold.go and compile.go.
type expression interface {
	fold(b *binder) expression
	compile() evaluator
}

// position is an offset in a query's text.
type position int

type (
	// item is the item that FROM names.
	item struct{}

	// literal is a constant; folding makes them of every kind, the parser of scalars and undefined.
	literal struct{ value value.Value }

	// parameter is a value that Bind gives; its name begins with "@".
	parameter struct {
		name string
		at   position
	}

	// property is a path of properties from the item, one at least.
	property struct{ path []string }

	// access follows all other steps, from a base that is itself no access; where that is the item or a property, the
	// first step has an index.
	access struct {
		base  expression
		steps []step
	}

	// unary is "-", "+" or "NOT" before an operand.
	unary struct {
		operator string
		operand  expression
	}

	// infix is a chain of operands joined by operators of one level, evaluated from the left: one of "??", "OR",
	// "AND" and "||", or a mixture of "+" and "-", or of "*", "/" and "%". There is one operator less than operands.
	infix struct {
		operators []string
		operands  []expression
	}

	// comparison is one of "=", "!=", "<", "<=", ">" and ">=" between two operands.
	comparison struct {
		operator    string
		left, right expression
	}

	// membership is "needle [NOT] IN (list)".
	membership struct {
		needle expression
		list   []expression
		not    bool
	}

	// between is "operand [NOT] BETWEEN low AND high".
	between struct {
		operand, low, high expression
		not                bool
	}

	// conditional is "test ? then : otherwise".
	conditional struct{ test, then, otherwise expression }

	// arrayLiteral is "[a, b]".
	arrayLiteral struct{ elements []expression }

	// objectLiteral is {"name": a}; names and values go by pairs.
	objectLiteral struct {
		names  []string
		values []expression
	}

	// call is a function's call; its name, in upper case, is in functions.
	call struct {
		name      string
		arguments []expression
	}

	// aggregate is a call of one of aggregates over all items. slot is its place among the query's aggregates.
	aggregate struct {
		name     string
		argument expression
		slot     int
	}
)

// step goes from an object to a property by its name or, where index is not nil, to what an expression names.
type step struct {
	name  string
	index expression
}

// tree is a whole query.
type tree struct {
	distinct   bool
	top        *count
	star       bool // SELECT *: there are no selections
	value      bool // SELECT VALUE: there is one selection
	selections []selection
	aggregates int    // how many there are in the selections
	collection string // FROM's name, "" without FROM
	alias      string // its alias, "" without one
	where      expression
	order      []OrderItem
	offset     *count
	limit      *count
}

// selection is one expression of SELECT, with the alias that was given to it, or "".
type selection struct {
	expression expression
	alias      string
	at         position
}

// count is the number of TOP, OFFSET or LIMIT, or the parameter that gives it.
type count struct {
	clause    string
	number    int
	parameter string
	at        position
}

// itemName is the name by which expressions mean the item.
func (t *tree) itemName() string {
	if t.alias != "" {
		return t.alias
	}
	return t.collection
}

// outputNames are the names of the properties that the selections give: the alias, or the last name of a path, or a
// number for what has no name.
func (t *tree) outputNames() []string {
	names := make([]string, len(t.selections))
	unnamed := 0
	for i, s := range t.selections {
		names[i] = s.alias
		if names[i] == "" {
			names[i] = t.ownName(s.expression)
		}
		if names[i] == "" {
			unnamed++
			names[i] = "$" + strconv.Itoa(unnamed)
		}
	}
	return names
}

// ownName is the name that an expression gives itself, or "".
func (t *tree) ownName(e expression) string {
	switch e := e.(type) {
	case item:
		return t.itemName()
	case *property:
		return e.path[len(e.path)-1]
	case *access:
		return e.steps[len(e.steps)-1].name
	}
	return ""
}

// follow makes an expression of a base and steps from it.
func follow(base expression, steps []step) expression {
	var path []string
	switch base := base.(type) {
	case item:
	case *property:
		path = slices.Clip(base.path)
	case *access:
		return follow(base.base, slices.Concat(base.steps, steps))
	default:
		return &access{base: base, steps: steps}
	}
	for len(steps) > 0 && steps[0].index == nil {
		path, steps = append(path, steps[0].name), steps[1:]
	}
	if len(path) > 0 {
		base = &property{path}
	}
	if len(steps) == 0 {
		return base
	}
	return &access{base: base, steps: steps}
}
