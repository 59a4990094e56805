package query

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cosmosblog/engine/value"
)

// stringFunctions work on strings. Positions and lengths count Unicode code points. The
// documentation does not state the unit of the service.
var stringFunctions = map[string]function{
	"CONTAINS":        matchFunction(strings.Contains),
	"STARTSWITH":      matchFunction(strings.HasPrefix),
	"ENDSWITH":        matchFunction(strings.HasSuffix),
	"STRINGEQUALS":    matchFunction(func(a, b string) bool { return a == b }),
	"LOWER":           textFunction(strings.ToLower),
	"UPPER":           textFunction(upper),
	"TRIM":            trimFunction(strings.Trim),
	"LTRIM":           trimFunction(strings.TrimLeft),
	"RTRIM":           trimFunction(strings.TrimRight),
	"REVERSE":         textFunction(reverse),
	"LENGTH":          {least: 1, most: 1, fixed: length},
	"SUBSTRING":       {least: 3, most: 3, fixed: substring},
	"LEFT":            {least: 2, most: 2, fixed: left},
	"RIGHT":           {least: 2, most: 2, fixed: right},
	"INDEX_OF":        {least: 2, most: 3, fixed: indexOf},
	"REPLACE":         {least: 3, most: 3, fixed: replace},
	"REPLICATE":       {least: 2, most: 2, fixed: replicate},
	"TOSTRING":        {least: 1, most: 1, fixed: toString},
	"STRINGTONULL":    parseFunction(value.KindNull),
	"STRINGTOBOOLEAN": parseFunction(value.KindBool),
	"STRINGTONUMBER":  parseFunction(value.KindNumber),
	"STRINGTOARRAY":   parseFunction(value.KindArray),
	"STRINGTOOBJECT":  parseFunction(value.KindObject),
	"STRINGJOIN":      {least: 2, most: 2, fixed: stringJoin},
	"STRINGSPLIT":     {least: 2, most: 2, fixed: stringSplit},
	"CONCAT":          {least: 2, most: manyArguments, variadic: concat},
}

const (
	// maxString is the maximum length of a string result in bytes. A longer result is undefined.
	// The limit is the size of the largest response page (4 MB). It keeps nested calls from
	// exhausting the memory.
	maxString = 4 << 20
	// maxReplicated is the maximum length of a result of REPLICATE in characters (REPLICATE, Azure
	// Cosmos DB documentation).
	maxReplicated = 10000
)

// matchFunction returns a function that compares two strings. The optional third argument
// ignores case if it is true.
func matchFunction(match func(a, b string) bool) function {
	return function{least: 2, most: 3, fixed: func(a, b, ignoreCase value.Value) value.Value {
		first, isString := a.AsString()
		second, ok := b.AsString()
		ignore, isBool := flag(ignoreCase)
		if !ok || !isString || !isBool {
			return value.Undefined
		}
		if ignore {
			first, second = strings.ToLower(first), strings.ToLower(second)
		}
		return value.Bool(match(first, second))
	}}
}

func textFunction(f func(string) string) function {
	return function{least: 1, most: 1, fixed: func(a, _, _ value.Value) value.Value {
		s, ok := a.AsString()
		if !ok {
			return value.Undefined
		}
		return bounded(f(s))
	}}
}

// upper maps each character by itself: ß stays. The micro sign has no upper case in the service
// (UPPER in BuiltinFunctionEvaluatorTests.cs of Azure/azure-cosmos-dotnet-v3).
func upper(s string) string {
	if !strings.Contains(s, "µ") {
		return strings.ToUpper(s)
	}
	return strings.Map(func(r rune) rune {
		if r == 'µ' {
			return r
		}
		return unicode.ToUpper(r)
	}, s)
}

// spaces are the white-space characters of Unicode.
const spaces = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005" +
	"\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"

// trimFunction returns a function that trims the characters of its second argument, or white
// space if there is none.
func trimFunction(trim func(s, cutset string) string) function {
	return function{least: 1, most: 2, fixed: func(a, b, _ value.Value) value.Value {
		if b.IsUndefined() {
			b = value.String(spaces)
		}
		s, isString := a.AsString()
		cutset, ok := b.AsString()
		if !ok || !isString {
			return value.Undefined
		}
		return value.String(trim(s, cutset))
	}}
}

// parseFunction returns a function that parses a string as JSON of one kind. White space around
// the JSON is allowed.
func parseFunction(kind value.Kind) function {
	return function{least: 1, most: 1, fixed: func(a, _, _ value.Value) value.Value {
		s, ok := a.AsString()
		v, err := value.Parse([]byte(s))
		if !ok || err != nil || v.Kind() != kind {
			return value.Undefined
		}
		return v
	}}
}

// bounded returns s as a value, or undefined if s is too long.
func bounded(s string) value.Value {
	if len(s) > maxString {
		return value.Undefined
	}
	return value.String(s)
}

func reverse(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

func length(a, _, _ value.Value) value.Value {
	s, ok := a.AsString()
	if !ok {
		return value.Undefined
	}
	return value.Number(float64(utf8.RuneCountInString(s)))
}

// substring returns an empty string if start is before the string or after its end, and any part of
// an empty string, even one that begins or ends within a character.
func substring(a, start, length value.Value) value.Value {
	s, isString := a.AsString()
	if isString && s == "" && start.Kind() == value.KindNumber && length.Kind() == value.KindNumber {
		return a
	}
	from, isStart := integer(start)
	count, ok := integer(length)
	if !ok || !isString || !isStart {
		return value.Undefined
	}
	if from < 0 || count <= 0 {
		return value.String("")
	}
	rest := s[offset(s, from):]
	return value.String(rest[:offset(rest, count)])
}

// offset returns the byte offset of a character in s, or the length of s if s has fewer
// characters.
func offset(s string, characters int) int {
	for at := range s {
		if characters == 0 {
			return at
		}
		characters--
	}
	return len(s)
}

func left(a, count, _ value.Value) value.Value { return substring(a, value.Number(0), count) }

func right(a, count, _ value.Value) value.Value {
	s, ok := a.AsString()
	n, isCount := integer(count)
	if !ok || !isCount {
		return value.Undefined
	}
	surplus := utf8.RuneCountInString(s) - max(n, 0)
	return value.String(s[offset(s, max(surplus, 0)):])
}

// indexOf returns -1 if s does not contain the part at or after start.
func indexOf(a, b, start value.Value) value.Value {
	s, isString := a.AsString()
	part, ok := b.AsString()
	from, isStart := 0, true
	if !start.IsUndefined() {
		from, isStart = integer(start)
	}
	if !ok || !isString || !isStart {
		return value.Undefined
	}
	begin := offset(s, max(from, 0))
	at := strings.Index(s[begin:], part)
	if at < 0 {
		return value.Number(-1)
	}
	return value.Number(float64(utf8.RuneCountInString(s[:begin+at])))
}

func replace(a, b, c value.Value) value.Value {
	s, isString := a.AsString()
	old, isOld := b.AsString()
	replacement, ok := c.AsString()
	if !ok || !isString || !isOld || old == "" {
		return value.Undefined
	}
	growth := strings.Count(s, old) * (len(replacement) - len(old))
	if len(s)+growth > maxString {
		return value.Undefined
	}
	return value.String(strings.ReplaceAll(s, old, replacement))
}

// replicate ignores the fraction of the count.
func replicate(a, b, _ value.Value) value.Value {
	s, ok := a.AsString()
	count, isNumber := b.AsNumber()
	n, isCount := integer(value.Number(math.Trunc(count)))
	if !ok || !isNumber || !isCount || count < 0 || utf8.RuneCountInString(s)*n > maxReplicated {
		return value.Undefined
	}
	return value.String(strings.Repeat(s, n))
}

// toString returns a string unchanged, and other values as JSON, NaN and infinities by their names.
func toString(a, _, _ value.Value) value.Value {
	n, _ := a.AsNumber()
	switch {
	case a.IsUndefined() || a.Kind() == value.KindString:
		return a
	case math.IsNaN(n):
		return value.String("NaN")
	case math.IsInf(n, 1):
		return value.String("Infinity")
	case math.IsInf(n, -1):
		return value.String("-Infinity")
	}
	text := string(value.AppendUpTo(nil, a, maxString))
	if len(text) <= maxString && !a.IsFinite() {
		return value.Undefined
	}
	return bounded(text)
}

func stringJoin(a, b, _ value.Value) value.Value {
	items, ok := a.AsArray()
	if _, isString := b.AsString(); !ok || !isString {
		return value.Undefined
	}
	var parts []value.Value
	for i, item := range items {
		if i > 0 {
			parts = append(parts, b)
		}
		parts = append(parts, item)
	}
	return concat(parts)
}

// stringSplit splits a string at every separator. It does not split if the separator is empty.
func stringSplit(a, b, _ value.Value) value.Value {
	s, isString := a.AsString()
	separator, ok := b.AsString()
	if !ok || !isString {
		return value.Undefined
	}
	parts := []string{s}
	if separator != "" {
		parts = strings.Split(s, separator)
	}
	items := make([]value.Value, len(parts))
	for i, part := range parts {
		items[i] = value.String(part)
	}
	return value.Array(items)
}

func concat(arguments []value.Value) value.Value {
	total := 0
	for _, argument := range arguments {
		s, ok := argument.AsString()
		if total += len(s); !ok || total > maxString {
			return value.Undefined
		}
	}
	var b strings.Builder
	b.Grow(total)
	for _, argument := range arguments {
		s, _ := argument.AsString()
		b.WriteString(s)
	}
	return value.String(b.String())
}
