package query

import (
	"math"

	"cosmosblog/engine/value"
)

// numberFunctions work on numbers, as IEEE 754 does.
var numberFunctions = map[string]function{
	"ABS":     numberFunction(math.Abs),
	"CEILING": numberFunction(math.Ceil),
	"FLOOR":   numberFunction(math.Floor),
	"ROUND":   numberFunction(math.Round), // half away from zero
	"SQRT":    numberFunction(math.Sqrt),
	"SIGN":    numberFunction(sign),
	"TRUNC":   numberFunction(math.Trunc),
	"POWER":   {least: 2, most: 2, fixed: power},
}

func numberFunction(f func(float64) float64) function {
	return function{least: 1, most: 1, fixed: func(a, _, _ value.Value) value.Value {
		n, ok := a.AsNumber()
		if !ok {
			return value.Undefined
		}
		return value.Number(f(n))
	}}
}

func sign(n float64) float64 {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return n // zero, or NaN
}

func power(a, b, _ value.Value) value.Value {
	base, isNumber := a.AsNumber()
	exponent, ok := b.AsNumber()
	if !ok || !isNumber {
		return value.Undefined
	}
	return value.Number(math.Pow(base, exponent))
}
