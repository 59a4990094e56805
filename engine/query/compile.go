package query

import (
	"errors"
	"math"
	"time"

	"cosmosblog/engine/value"
)

// evaluator computes the value of an expression. It is compiled once for each Bound. Several
// goroutines may call it at once, each with its own scope.
type evaluator func(*scope) value.Value

// scope holds the inputs of an evaluation, and its use of memory and time.
type scope struct {
	item   value.Value
	totals []value.Value // of the aggregates, by their slots
	spent  int           // bytes that functions have produced
	calls  int           // number of function calls
	begun  time.Time     // set after the first calls
	noJSON bool          // NaN or an infinity occurred, which the result may have
	text   []byte        // buffer in which rows are written before they are copied
}

// maxSpent is the number of bytes that functions may produce for one item. Without it, a query
// of half a megabyte could hold many calls that each produce megabytes. The limit is ours.
const maxSpent = 64 << 20

// maxTime is the time that functions may take for one item. Without it, a query could search
// megabytes ten thousand times. The limit is ours. The time is checked once every clockInterval
// calls.
const (
	maxTime       = 5 * time.Second
	clockInterval = 16
)

// ErrTooLarge reports that a row is longer than MaxRow, or takes too much memory or time to
// compute.
var ErrTooLarge = errors.New("query: row too large")

// exhausted counts a function call and reports whether the limit of memory or time is exceeded.
func (s *scope) exhausted() bool {
	switch s.calls++; {
	case s.calls%clockInterval != 0:
	case s.begun.IsZero():
		s.begun = time.Now()
	case time.Since(s.begun) > maxTime:
		s.spent = maxSpent + 1
	}
	return s.spent > maxSpent
}

// spend adds the size of a function's result to the memory used.
func (s *scope) spend(result value.Value) value.Value {
	s.spent += result.Footprint(maxSpent - s.spent)
	return s.noted(result)
}

// ErrNotFinite reports that a row has NaN or an infinity, which JSON does not have.
var ErrNotFinite = errors.New("query: number not finite")

// noted returns v, and notes whether it is NaN or an infinity.
func (s *scope) noted(v value.Value) value.Value {
	if n, _ := v.AsNumber(); n-n != 0 {
		s.noJSON = true
	}
	return v
}

// evaluate computes an expression over an item. It returns ErrTooLarge if a limit is exceeded.
func (s *scope) evaluate(e evaluator, item value.Value) (value.Value, error) {
	s.item, s.spent, s.calls, s.begun, s.noJSON = item, 0, 0, time.Time{}, false
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
	if e.noJSON {
		return func(s *scope) value.Value {
			s.noJSON = true
			return v
		}
	}
	return func(*scope) value.Value { return v }
}

// compile returns undefined. Folding replaces all parameters before compilation.
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

// compile returns a function that follows the step from a value.
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
	minus := e.operator == "-"
	return func(s *scope) value.Value {
		switch v := operand(s); {
		case v.Kind() != value.KindNumber:
			return value.Undefined
		case minus:
			return v.Negated()
		default:
			return v
		}
	}
}

// not negates a boolean. It returns undefined for other kinds.
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

// logical computes AND or OR in three-valued logic. An operand that equals decides (false for
// AND, true for OR) determines the result. Otherwise, the result is undefined if an operand is
// not a boolean.
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
		return s.noted(value.Number(total))
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

func (e *conditional) compile() evaluator {
	test, then, otherwise := e.test.compile(), e.then.compile(), e.otherwise.compile()
	return func(s *scope) value.Value {
		if test(s).IsTrue() {
			return then(s)
		}
		return otherwise(s)
	}
}

// compile returns an array of the defined elements.
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

// compileObject returns an evaluator that creates an object of the defined properties.
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

// arguments evaluates the arguments of a function into values. It reports whether to call the
// function.
func (s *scope) arguments(f function, arguments []evaluator, values []value.Value) bool {
	for i, argument := range arguments {
		if values[i] = argument(s); values[i].IsUndefined() && !f.takesUndefined {
			return false
		}
	}
	return !s.exhausted()
}

func (e *aggregate) compile() evaluator {
	return func(s *scope) value.Value { return s.noted(s.totals[e.slot]) }
}
