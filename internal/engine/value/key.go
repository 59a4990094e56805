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
		key = appendNumberKey(key, v.number)
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

// appendNumberKey appends a double with its bits changed so that the keys compare as unsigned
// integers.
func appendNumberKey(key []byte, n float64) []byte {
	if n == 0 {
		n = 0 // replaces minus zero
	}
	bits := math.Float64bits(n)
	if bits>>63 == 0 {
		bits |= 1 << 63
	} else {
		bits = ^bits
	}
	return binary.BigEndian.AppendUint64(key, bits)
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
