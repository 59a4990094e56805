package value

import (
	"bytes"
	"slices"
)

// ParseProperties parses only some top properties of a JSON object and skips the others. The
// result is an object with exactly the given names in their order; the value of a missing
// property is Undefined. It therefore suits only Get and Path.
//
// The text must be one that Append wrote: without spaces between its parts, and without a name
// that occurs twice. ParseProperties stops after the last of the names. It returns a *SyntaxError
// if the text up to there is not JSON; in skipped values, it checks only strings and brackets.
// The result keeps names but not text.
func ParseProperties(text []byte, names []string) (Value, error) {
	v := Value{kind: KindObject, names: names}
	if len(names) == 0 {
		return v, nil
	}
	v.items = make([]Value, len(names))
	s := skipper{text: text}
	if !s.accept('{') {
		return Undefined, s.fail("expected an object")
	}
	if s.accept('}') {
		return v, nil
	}
	for found := 0; ; {
		at, value, err := s.property(names)
		if err != nil {
			return Undefined, err
		}
		if at >= 0 {
			if v.items[at], err = parsePart(value); err != nil {
				return Undefined, err
			}
			if found++; found == len(names) {
				return v, nil
			}
		}
		if s.accept('}') {
			return v, nil
		}
		if !s.accept(',') {
			return Undefined, s.fail("expected a comma or a closing bracket")
		}
	}
}

// parsePart parses a value whose end is known. Most of them are plain strings and booleans.
func parsePart(text []byte) (Value, error) {
	switch {
	case text[0] == '"' && bytes.IndexByte(text, '\\') < 0:
		return String(string(text[1 : len(text)-1])), nil
	case string(text) == "true":
		return True, nil
	case string(text) == "false":
		return False, nil
	}
	return Parse(text)
}

// skipper finds the ends of JSON values without parsing them.
type skipper struct {
	text []byte
	at   int
}

func (s *skipper) fail(message string) error { return &SyntaxError{s.at, message} }

// accept skips a byte if it is the next one, and reports that.
func (s *skipper) accept(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// property skips a name and its value. It returns the position of the name in names, or -1, and
// the text of the value.
func (s *skipper) property(names []string) (at int, value []byte, err error) {
	start := s.at
	if err := s.str(); err != nil {
		return 0, nil, err
	}
	if name := s.text[start+1 : s.at-1]; bytes.IndexByte(name, '\\') < 0 {
		at = slices.IndexFunc(names, func(wanted string) bool { return wanted == string(name) })
	} else {
		unescaped, err := Parse(s.text[start:s.at])
		if err != nil {
			return 0, nil, err
		}
		at = slices.Index(names, unescaped.text)
	}
	if !s.accept(':') {
		return 0, nil, s.fail("expected a colon")
	}
	start = s.at
	if err := s.value(); err != nil {
		return 0, nil, err
	}
	return at, s.text[start:s.at], nil
}

// str skips a string.
func (s *skipper) str() error {
	if !s.accept('"') {
		return s.fail("expected a string")
	}
	for {
		length := bytes.IndexByte(s.text[s.at:], '"')
		if length < 0 {
			return s.fail("unterminated string")
		}
		s.at += length + 1
		// A quote after an odd number of backslashes is part of the string.
		first := s.at - 1
		for s.text[first-1] == '\\' {
			first--
		}
		if (s.at-1-first)%2 == 0 {
			return nil
		}
	}
}

// value skips a value of any kind.
func (s *skipper) value() error {
	for depth := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '"':
			if err := s.str(); err != nil {
				return err
			}
		case c == '{' || c == '[':
			depth++
			s.at++
		case !isPunctuation(c): // a number, true, false or null
			for s.at < len(s.text) && !isPunctuation(s.text[s.at]) {
				s.at++
			}
		case depth == 0:
			return s.fail("expected a value")
		default:
			if c == '}' || c == ']' {
				depth--
			}
			s.at++
		}
		if depth == 0 {
			return nil
		}
	}
	return s.fail("the text ends before the end of a value")
}

// isPunctuation reports whether a byte follows a value or a name.
func isPunctuation(c byte) bool { return c == ',' || c == '}' || c == ']' || c == ':' }
