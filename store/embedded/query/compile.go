package query

import (
	"errors"
	"math"
	"time"

	"cosmosblog/store/embedded/value"
)

// evaluator computes an expression. It is made once a Bound and may be called by several goroutines, each with a scope
// of its own.
type evaluator func(*scope) value.Value

// scope is what an expression's value depends on.
type scope struct {
	item   value.Value
	totals []value.Value // of the aggregates, by their slots
	spent  int           // bytes of what functions made
	calls  int           // of functions
	begun  time.Time     // when there were some calls
	text   []byte        // where rows are written before they are copied
}

// maxSpent is how many bytes functions may make for one item: a query may be half a megabyte of calls that make strings
// and arrays of megabytes. The limit is ours.
const maxSpent = 64 << 20

// maxTime is how long functions may take for one item: they may look through megabytes, some ten thousand times. The limit is
// ours; lookEvery is how many calls there are between two looks at the time.
const (
	maxTime   = 5 * time.Second
	lookEvery = 16
)

// ErrTooLarge says that a row is longer than MaxRow, or takes too much memory or time to make.
var ErrTooLarge = errors.New("query: a row is too large")

// exhausted tells, at a call, whether too much was made or it took too long, so that nothing more is.
func (s *scope) exhausted() bool {
	switch s.calls++; {
	case s.calls%lookEvery != 0:
	case s.begun.IsZero():
		s.begun = time.Now()
	case time.Since(s.begun) > maxTime:
		s.spent = maxSpent + 1
	}
	return s.spent > maxSpent
}

// spend counts what a function made.
func (s *scope) spend(made value.Value) value.Value {
	s.spent += made.Footprint(maxSpent - s.spent)
	return made
}

// evaluate computes an expression over an item. Error: ErrTooLarge.
func (s *scope) evaluate(e evaluator, item value.Value) (value.Value, error) {
	s.item, s.spent, s.calls, s.begun = item, 0, 0, time.Time{}
	v := e(s)
	if s.exhausted() {
		return value.Undefined, ErrTooLarge
	}
	return v, nil
}

func compileAll(expressions []expression) []evaluator {
	evaluators := make([]evaluator, len(expressions))
	for i, e := range expressions {
		evaluators[i] = e.compile()
	}
	return evaluators
}

func (item) compile() evaluator { return func(s *scope) value.Value { return s.item } }

func (e *literal) compile() evaluator {
	v := e.value
	return func(*scope) value.Value { return v }
}

// compile gives undefined: folding leaves no parameter in an expression that is compiled.
func (e *parameter) compile() evaluator { return (&literal{}).compile() }

func (e *property) compile() evaluator { return compilePath(e.path) }

func (e *access) compile() evaluator {
	base := e.base.compile()
	steps := make([]func(value.Value, *scope) value.Value, len(e.steps))
	for i, s := range e.steps {
		steps[i] = s.compile()
	}
	return func(s *scope) value.Value {
		v := base(s)
		for _, follow := range steps {
			v = follow(v, s)
		}
		return v
	}
}

func compilePath(names []string) evaluator {
	if len(names) == 1 {
		name := names[0]
		return func(s *scope) value.Value { return s.item.Get(name) }
	}
	return func(s *scope) value.Value { return s.item.Path(names...) }
}

// compile gives the function that goes the step from a value.
func (s step) compile() func(value.Value, *scope) value.Value {
	if s.index == nil {
		return func(v value.Value, _ *scope) value.Value { return v.Get(s.name) }
	}
	index := s.index.compile()
	return func(v value.Value, s *scope) value.Value {
		at := index(s)
		if name, ok := at.AsString(); ok {
			return v.Get(name)
		}
		if n, ok := at.AsNumber(); ok {
			if i, ok := wholeNumber(n); ok {
				return v.At(i)
			}
		}
		return value.Undefined
	}
}

func (e *unary) compile() evaluator {
	operand := e.operand.compile()
	if e.operator == "NOT" {
		return func(s *scope) value.Value { return not(operand(s)) }
	}
	sign := 1.0
	if e.operator == "-" {
		sign = -1
	}
	return func(s *scope) value.Value {
		n, ok := operand(s).AsNumber()
		if !ok {
			return value.Undefined
		}
		return value.Number(sign * n)
	}
}

// not is true of false and false of true; what is no boolean stays undefined.
func not(v value.Value) value.Value {
	b, ok := v.AsBool()
	if !ok {
		return value.Undefined
	}
	return value.Bool(!b)
}

func (e *infix) compile() evaluator {
	operands := compileAll(e.operands)
	switch e.operators[0] {
	case "AND":
		return func(s *scope) value.Value { return logical(s, operands, false) }
	case "OR":
		return compileOr(e.operands, operands)
	case "??":
		return compileCoalesce(operands)
	case "||":
		return compileConcat(operands)
	}
	return compileArithmetic(operands, e.operators)
}

// logical is AND or OR in three-valued logic: one operand that decides is enough (false for AND, true for OR), whatever
// the others are. Otherwise one operand that is no boolean makes the whole undefined.
func logical(s *scope, operands []evaluator, decides bool) value.Value {
	result := value.Bool(!decides)
	for _, operand := range operands {
		b, ok := operand(s).AsBool()
		switch {
		case !ok:
			result = value.Undefined
		case b == decides:
			return value.Bool(decides)
		}
	}
	return result
}

func compileCoalesce(operands []evaluator) evaluator {
	return func(s *scope) value.Value {
		for _, operand := range operands {
			if v := operand(s); !v.IsUndefined() {
				return v
			}
		}
		return value.Undefined
	}
}

func compileConcat(operands []evaluator) evaluator {
	return func(s *scope) value.Value {
		strings := make([]value.Value, len(operands))
		for i, operand := range operands {
			strings[i] = operand(s)
		}
		if s.exhausted() {
			return value.Undefined
		}
		return s.spend(concat(strings))
	}
}

func compileArithmetic(operands []evaluator, operators []string) evaluator {
	return func(s *scope) value.Value {
		total, ok := operands[0](s).AsNumber()
		for i, operator := range operators {
			n, isNumber := operands[i+1](s).AsNumber()
			ok = ok && isNumber
			total = calculate(total, operator, n)
		}
		if !ok {
			return value.Undefined
		}
		return finite(total)
	}
}

func calculate(a float64, operator string, b float64) float64 {
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	}
	return math.Mod(a, b)
}

// finite makes a value of a number that was computed: JSON has no infinity and no NaN, which become undefined.
func finite(n float64) value.Value {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return value.Undefined
	}
	return value.Number(n)
}

func (e *conditional) compile() evaluator {
	test, then, otherwise := e.test.compile(), e.then.compile(), e.otherwise.compile()
	return func(s *scope) value.Value {
		if test(s).IsTrue() {
			return then(s)
		}
		return otherwise(s)
	}
}

// compile makes an array of the elements that are defined.
func (e *arrayLiteral) compile() evaluator {
	elements := compileAll(e.elements)
	return func(s *scope) value.Value {
		items := make([]value.Value, 0, len(elements))
		for _, element := range elements {
			if v := element(s); !v.IsUndefined() {
				items = append(items, v)
			}
		}
		return value.Array(items)
	}
}

func (e *objectLiteral) compile() evaluator { return compileObject(e.names, e.values) }

// compileObject makes an object of the properties that are defined.
func compileObject(names []string, values []expression) evaluator {
	evaluators := compileAll(values)
	return func(s *scope) value.Value {
		defined, properties := make([]string, 0, len(names)), make([]value.Value, 0, len(names))
		for i, evaluate := range evaluators {
			if v := evaluate(s); !v.IsUndefined() {
				defined, properties = append(defined, names[i]), append(properties, v)
			}
		}
		return value.Object(defined, properties)
	}
}

func (e *call) compile() evaluator {
	f, arguments := functions[e.name], compileAll(e.arguments)
	if f.variadic != nil {
		return func(s *scope) value.Value {
			values := make([]value.Value, len(arguments))
			if !s.arguments(f, arguments, values) {
				return value.Undefined
			}
			return s.spend(f.variadic(values))
		}
	}
	return func(s *scope) value.Value {
		var values [maxFixed]value.Value
		if !s.arguments(f, arguments, values[:]) {
			return value.Undefined
		}
		return s.spend(f.fixed(values[0], values[1], values[2]))
	}
}

// arguments evaluates a function's arguments, and tells whether it is to be called with them.
func (s *scope) arguments(f function, arguments []evaluator, values []value.Value) bool {
	for i, argument := range arguments {
		if values[i] = argument(s); values[i].IsUndefined() && !f.takesUndefined {
			return false
		}
	}
	return !s.exhausted()
}

func (e *aggregate) compile() evaluator {
	return func(s *scope) value.Value { return s.totals[e.slot] }
}
