package coercion

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// enumValue is the name of an enum's value. Queries write it without quotes, JSON as a string.
type enumValue string

// fraction is a number that a query writes with a point or an exponent. It is no integer, even if
// its fraction is zero. JSON makes no such difference.
type fraction string

// leaf returns a value as a scalar or an enum has it, or false if it has no such value. An Int
// becomes an int64 of 32 bits, a Float a float64, a Boolean a bool, and all others a string. The
// value is a bool, a string, a json.Number, an enumValue or a fraction.
func leaf(value any, definition *ast.Definition) (any, bool) {
	if definition.Kind == ast.Enum {
		name, ok := value.(enumValue)
		return string(name), ok && definition.EnumValues.ForName(string(name)) != nil
	}
	switch definition.Name {
	case "Int":
		number, _ := value.(json.Number)
		i, err := strconv.ParseInt(integerOf(number), 10, 32)
		return i, err == nil
	case "Float":
		text, isFraction := value.(fraction)
		if number, ok := value.(json.Number); ok {
			text, isFraction = fraction(number), true
		}
		f, err := strconv.ParseFloat(string(text), 64)
		return f, isFraction && err == nil
	case "Boolean":
		boolean, ok := value.(bool)
		return boolean, ok
	case "ID":
		if number, ok := value.(json.Number); ok {
			text := integerOf(number)
			return text, text != ""
		}
	}
	text, ok := value.(string)
	return text, ok
}

// integerOf returns the digits of a number, with a sign if it is negative, or "" if it is not an
// integer. Numbers of JSON with an exponent or a fraction have the value that JSON's readers give
// them, a number of double precision (RFC 8259, section 6).
func integerOf(number json.Number) string {
	if !strings.ContainsAny(string(number), ".eE") {
		if number == "-0" {
			return "0"
		}
		return string(number)
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1e21 { // JavaScript writes no more digits either
		return ""
	}
	return strconv.FormatFloat(f+0, 'f', 0, 64) // -0 + 0 is 0
}
