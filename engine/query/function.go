package query

import (
	"maps"
	"math"
	"strconv"

	"cosmosblog/engine/value"
)

// function is a function of the query language. Missing optional arguments are passed as
// undefined.
//
// A function returns undefined, never an error, for arguments of the wrong type or value. If an
// argument is undefined, the result is undefined without a call (scalar expressions, Azure
// Cosmos DB documentation).
type function struct {
	least, most    int // number of arguments
	fixed          func(a, b, c value.Value) value.Value
	variadic       func(arguments []value.Value) value.Value // instead of fixed
	takesUndefined bool                                      // called even if an argument is undefined
}

// maxFixed is the maximum number of arguments of a function that is not variadic. manyArguments
// is the maximum of a variadic function.
const (
	maxFixed      = 3
	manyArguments = math.MaxInt
)

// arity describes the number of arguments for error messages.
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

// functions maps names in upper case to functions. The behavior follows the Azure Cosmos DB
// documentation, and otherwise Microsoft's evaluator in the tests of the .NET SDK.
var functions = allFunctions()

func allFunctions() map[string]function {
	all := make(map[string]function)
	maps.Copy(all, typeFunctions)
	maps.Copy(all, stringFunctions)
	maps.Copy(all, numberFunctions)
	maps.Copy(all, arrayFunctions)
	return all
}

// typeFunctions check the type of a value and never return undefined.
var typeFunctions = map[string]function{
	"IS_INTEGER":       {least: 1, most: 1, fixed: isInteger, takesUndefined: true},
	"IS_FINITE_NUMBER": {least: 1, most: 1, fixed: isFinite, takesUndefined: true},
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

// isFinite reports whether a is a number, but not NaN or an infinity.
func isFinite(a, _, _ value.Value) value.Value {
	return value.Bool(a.Kind() == value.KindNumber && a.IsFinite())
}

// isInteger reports whether a is a whole number in the range of signed 64-bit integers.
func isInteger(a, _, _ value.Value) value.Value {
	_, ok := a.AsInteger()
	return value.Bool(ok)
}
