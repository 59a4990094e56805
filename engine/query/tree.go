package query

import (
	"slices"
	"strconv"

	"cosmosblog/engine/value"
)

// expression is a node of the syntax tree. A node is immutable once parsed. Each operation on
// nodes has its own file with one method for each node type: fold.go and compile.go.
type expression interface {
	fold(b *binder) expression
	compile() evaluator
}

// position is an offset in a query's text.
type position int

type (
	// item is the item that FROM names.
	item struct{}

	// literal is a constant. The parser creates scalars and undefined; folding creates constants of
	// every kind.
	literal struct {
		value  value.Value
		noJSON bool // the value may have NaN or an infinity
	}

	// parameter is a placeholder that Bind replaces; its name begins with "@".
	parameter struct {
		name string
		at   position
	}

	// property is a path of one or more properties from the item.
	property struct{ path []string }

	// access follows a path that is not a property. Its base is never an access. If the base is the
	// item or a property, the first step has an index.
	access struct {
		base  expression
		steps []step
	}

	// unary is "-", "+" or "NOT" before an operand.
	unary struct {
		operator string
		operand  expression
	}

	// infix is a chain of operands joined by operators of one precedence and evaluated from the
	// left. The operators are all "??", "OR", "AND" or "||", or a mixture of "+" and "-", or of
	// "*", "/" and "%". There is one operator fewer than operands.
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

	// objectLiteral is {"name": a}; names and values correspond by index.
	objectLiteral struct {
		names  []string
		values []expression
	}

	// call is a function call; its name, in upper case, is a key of functions.
	call struct {
		name      string
		arguments []expression
	}

	// aggregate is an aggregate call over all items. slot is its index among the query's
	// aggregates.
	aggregate struct {
		name     string
		argument expression
		slot     int
	}
)

// step selects a property by name or, if index is not nil, by the value of an expression.
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
	aggregates int    // number of aggregates in the selections
	collection string // name in FROM, "" without FROM
	alias      string // alias in FROM, or ""
	where      expression
	order      []OrderItem
	offset     *count
	limit      *count
}

// selection is an expression of SELECT with its alias, or "" without one.
type selection struct {
	expression expression
	alias      string
	at         position
}

// count is the number of TOP, OFFSET or LIMIT, or the name of its parameter.
type count struct {
	clause    string
	number    int
	parameter string
	at        position
}

// returnsItem reports whether the query selects whole items, with * or VALUE.
func (t *tree) returnsItem() bool {
	return t.star || t.value && t.selections[0].expression == item{}
}

// itemName returns the name of the item in expressions.
func (t *tree) itemName() string {
	if t.alias != "" {
		return t.alias
	}
	return t.collection
}

// outputNames returns the property names of the selections: the alias, or the last name of a
// path, or a number such as "$1".
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

// ownName returns the name that an expression implies, or "".
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

// follow returns an expression of a base and the steps from it.
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
