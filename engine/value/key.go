package value

import (
	"encoding/binary"
	"math"
)

// A string in a key ends with escape and terminator, two bytes that no encoded string contains:
// a zero byte inside a string is followed by 0xFF.
const (
	escape     = 0x00
	escaped    = 0xFF
	terminator = 0x01
)

// AppendKey appends an encoding of v to key. Encoded keys compare as bytes in the order of
// Compare, or in the reverse order if descending is true. Keys of several values appended to
// each other compare value by value.
//
// Arrays and objects are ordered by their JSON text, which is enough to distinguish them.
func AppendKey(key []byte, v Value, descending bool) []byte {
	start := len(key)
	key = append(key, byte(v.kind)+1)
	switch v.kind {
	case KindBool:
		key = append(key, byte(v.number))
	case KindNumber:
		key = appendNumberKey(key, v.number, v.rest)
	case KindString:
		key = appendStringKey(key, v.text)
	case KindArray, KindObject:
		key = appendStringKey(key, string(Append(nil, v)))
	}
	if descending {
		for i := start; i < len(key); i++ {
			key[i] = ^key[i]
		}
	}
	return key
}

// AppendKeyBound appends the end of the keys that begin with v's key: the lowest, or one above all
// of them. It divides the keys of all other values from them as v divides the values.
func AppendKeyBound(key []byte, v Value, descending, after bool) []byte {
	key = AppendKey(key, v, descending)
	switch {
	case after:
		return append(key, 0xFF)
	case descending:
		return append(key, 0x01)
	}
	return key
}

// appendNumberKey appends a double with its bits changed so that the keys compare as unsigned
// integers. What follows a key begins with neither 0x00 nor 0xFF: the kind of the next value, a
// locator, or an id. So a number that is not JavaScript's for its double gets a key above all
// continuations of a double's key: that of its own double if it is above JavaScript's number, of
// the previous one if it is below. All other numbers have the keys that they had when only doubles
// were stored.
func appendNumberKey(key []byte, n float64, rest int16) []byte {
	if n == 0 {
		n = 0 // replaces minus zero
	}
	bits := math.Float64bits(n)
	if bits>>63 == 0 {
		bits |= 1 << 63
	} else {
		bits = ^bits
	}
	distance := int16(0)
	if isLong(n) {
		distance = rest - Script(n).rest
	}
	switch {
	case distance == 0:
		return binary.BigEndian.AppendUint64(key, bits)
	case distance < 0:
		bits--
	}
	key = append(binary.BigEndian.AppendUint64(key, bits), 0xFF)
	return binary.BigEndian.AppendUint16(key, uint16(distance))
}

func appendStringKey(key []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		key = append(key, s[i])
		if s[i] == escape {
			key = append(key, escaped)
		}
	}
	return append(key, escape, terminator)
}
