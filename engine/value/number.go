package value

import (
	"math"
	"slices"
	"strconv"
)

// A number is a double, or an integer from -2^63 to 2^63-1 with all its digits. The service
// remembers the same numbers: Number64 in the .NET SDK (Microsoft.Azure.Cosmos/src/Number64.cs,
// repository Azure/azure-cosmos-dotnet-v3) is one or the other, and compares them by a double and
// the bits that it lacks. Here, Value.rest is the difference between an integer and the nearest
// double, at most 512, so that numbers are in the order of (number, rest).

// Integer returns the number i.
func Integer(i int64) Value {
	n := float64(i)
	if n == 1<<63 {
		return Value{kind: KindNumber, number: n, rest: int16(i - math.MaxInt64 - 1)}
	}
	return Value{kind: KindNumber, number: n, rest: int16(i - int64(n))}
}

// AsInteger returns the number as an integer, and whether it is one from -2^63 to 2^63-1.
func (v Value) AsInteger() (i int64, ok bool) {
	switch n := v.number; {
	case v.kind != KindNumber || n != math.Trunc(n) || n < -1<<63 || n > 1<<63:
		return 0, false
	case n < 1<<63:
		return int64(n) + int64(v.rest), true
	}
	return math.MaxInt64 + int64(v.rest) + 1, v.rest < 0
}

// Negated returns the number with the opposite sign.
func (v Value) Negated() Value { return Value{kind: KindNumber, number: -v.number, rest: -v.rest} }

// isLong reports whether a double is beyond 2^53, from where doubles do not have all integers, and
// within 2^63, to where integers have all their digits.
func isLong(n float64) bool { return math.Abs(n) >= 1<<53 && math.Abs(n) <= 1<<63 }

// IsFinite reports whether v is a JSON value: that neither it nor a part of it is NaN or an
// infinity. Its time is that of v's text, which may be larger than any memory (see AppendUpTo).
func (v Value) IsFinite() bool {
	return v.number-v.number == 0 && !slices.ContainsFunc(v.items, func(item Value) bool { return !item.IsFinite() })
}

// IsNaN reports whether v is the number NaN.
func (v Value) IsNaN() bool { return v.number != v.number }

// Script returns the number that a script writes for a double: the one with the digits of
// Number::toString (ECMAScript), of which those after the 17th are zeros.
func Script(n float64) Value {
	if !isLong(n) {
		return Number(n)
	}
	var buffer [32]byte
	i, err := strconv.ParseInt(string(strconv.AppendFloat(buffer[:0], n, 'f', -1, 64)), 10, 64)
	if err != nil {
		return Number(n) // 2^63
	}
	return Integer(i)
}

// Scripted returns v as a script writes it after it read it: all its numbers become doubles.
func Scripted(v Value) Value {
	v, _ = scripted(v)
	return v
}

// scripted is Scripted, and reports whether that changes v. Its time is that of v's values.
func scripted(v Value) (double Value, changes bool) {
	switch {
	case v.kind == KindNumber && isLong(v.number):
		double := Script(v.number)
		return double, double.rest != v.rest
	case v.kind != KindArray && v.kind != KindObject:
		return v, false
	}
	var items []Value
	for i, item := range v.items {
		double, changes := scripted(item)
		if changes && items == nil {
			items = append(make([]Value, 0, len(v.items)), v.items[:i]...)
		}
		if items != nil {
			items = append(items, double)
		}
	}
	if items != nil {
		v.items = items
	}
	return v, items != nil
}

// ParseNumber returns the number of a text of digits with an optional sign, fraction and exponent,
// which the caller has checked. It returns an error if the number is out of the range of doubles.
func ParseNumber(text string) (Value, error) {
	for i := range len(text) {
		if c := text[i]; c != '-' && (c < '0' || c > '9') {
			return number(text, false)
		}
	}
	return number(text, true)
}

// shortInteger is the length up to which every integer is a double.
const shortInteger = 15

// number is ParseNumber; whole tells that the text has no fraction and no exponent.
func number(text string, whole bool) (Value, error) {
	if whole && len(text) > shortInteger {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Integer(i), nil
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	return Number(n), err
}

// appendNumber appends a number: an integer with all digits if it is one of 64 bits, and otherwise
// as JavaScript writes it, without an exponent between 1e-6 and 1e21.
func appendNumber(text []byte, v Value) []byte {
	n := v.number
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return strconv.AppendInt(text, int64(n), 10)
	}
	if i, ok := v.AsInteger(); ok {
		return strconv.AppendInt(text, i, 10)
	}
	if abs := math.Abs(n); abs < 1e-6 || abs >= 1e21 {
		text = strconv.AppendFloat(text, n, 'e', -1, 64)
		if end := len(text); text[end-4] == 'e' && text[end-2] == '0' { // 1e-07
			text = append(text[:end-2], text[end-1])
		}
		return text
	}
	return strconv.AppendFloat(text, n, 'f', -1, 64)
}
