package query

import (
	"maps"
	"math"
	"strconv"

	"cosmosblog/store/embedded/value"
)

// function is one of the language's functions. It is called with its arguments' values; those that an optional argument
// does not get are undefined. What a function cannot work on makes it undefined, never an error; an argument that is
// undefined does so without a call (scalar expressions, Azure Cosmos DB documentation).
type function struct {
	least, most    int // numbers of arguments
	fixed          func(a, b, c value.Value) value.Value
	variadic       func(arguments []value.Value) value.Value // instead of fixed
	takesUndefined bool                                      // it is called with arguments that are undefined, too
}

// maxFixed is the greatest number of arguments of a function that is not variadic; manyArguments is that of one that is.
const (
	maxFixed      = 3
	manyArguments = math.MaxInt
)

// arity says how many arguments a function takes.
func (f function) arity() string {
	switch {
	case f.most == manyArguments:
		return "at least " + strconv.Itoa(f.least) + " arguments"
	case f.least != f.most:
		return strconv.Itoa(f.least) + " or " + strconv.Itoa(f.most) + " arguments"
	case f.least == 1:
		return "1 argument"
	}
	return strconv.Itoa(f.least) + " arguments"
}

// functions are all functions by their names in upper case. What each does is said where it stands, after the pages of
// the Azure Cosmos DB documentation; where those are silent, after Microsoft's own evaluator in the tests of the .NET SDK.
var functions = allFunctions()

func allFunctions() map[string]function {
	all := make(map[string]function)
	maps.Copy(all, typeFunctions)
	maps.Copy(all, stringFunctions)
	maps.Copy(all, numberFunctions)
	maps.Copy(all, arrayFunctions)
	return all
}

// typeFunctions ask for a value's type; they are never undefined. Every number is finite: what is not is undefined.
var typeFunctions = map[string]function{
	"IS_INTEGER":       {least: 1, most: 1, fixed: isInteger, takesUndefined: true},
	"IS_FINITE_NUMBER": typeFunction(func(k value.Kind) bool { return k == value.KindNumber }),
	"IS_DEFINED":       typeFunction(func(k value.Kind) bool { return k != value.KindUndefined }),
	"IS_NULL":          typeFunction(func(k value.Kind) bool { return k == value.KindNull }),
	"IS_BOOL":          typeFunction(func(k value.Kind) bool { return k == value.KindBool }),
	"IS_NUMBER":        typeFunction(func(k value.Kind) bool { return k == value.KindNumber }),
	"IS_STRING":        typeFunction(func(k value.Kind) bool { return k == value.KindString }),
	"IS_ARRAY":         typeFunction(func(k value.Kind) bool { return k == value.KindArray }),
	"IS_OBJECT":        typeFunction(func(k value.Kind) bool { return k == value.KindObject }),
	"IS_PRIMITIVE": typeFunction(func(k value.Kind) bool {
		return k > value.KindUndefined && k < value.KindArray
	}),
}

func typeFunction(is func(value.Kind) bool) function {
	return function{least: 1, most: 1, takesUndefined: true, fixed: func(a, _, _ value.Value) value.Value {
		return value.Bool(is(a.Kind()))
	}}
}

// isInteger tells whether a number is whole and in the range of 64 bits with a sign.
func isInteger(a, _, _ value.Value) value.Value {
	n, ok := a.AsNumber()
	return value.Bool(ok && n == math.Trunc(n) && math.Abs(n) <= 1<<63)
}
