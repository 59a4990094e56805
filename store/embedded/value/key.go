package value

import (
	"encoding/binary"
	"math"
)

// In a key a string ends with two bytes that no string holds: a zero inside a string is followed by 0xFF.
const (
	escape     = 0x00
	escaped    = 0xFF
	terminator = 0x01
)

// AppendKey appends v to a key so that keys compare as bytes in the order in which Compare orders values, or in the
// reverse order where descending. Keys of several values appended to each other compare value by value. Arrays and
// objects are ordered by their text, which is enough to tell them apart.
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

// appendNumberKey flips a double's bits so that they compare as unsigned integers.
func appendNumberKey(key []byte, n float64) []byte {
	if n == 0 {
		n = 0 // minus zero is zero
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
