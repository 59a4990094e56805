package query

import "testing"

// TestStringsAreBounded checks that nested calls cannot exhaust the memory.
func TestStringsAreBounded(t *testing.T) {
	for name, wrap := range map[string]func(string) string{
		"TOSTRING": func(inner string) string { return "TOSTRING([" + inner + "])" },
		"REPLACE":  func(inner string) string { return "REPLACE(" + inner + ", 'a', 'aaaaaaaaaaaaaaaa')" },
		"CONCAT":   func(inner string) string { return "REPLACE(CONCAT(" + inner + ", 'a'), 'a', 'aaaa')" },
	} {
		expression := `'a"'`
		for range 40 {
			expression = wrap(expression)
		}
		if got := evaluate(t, expression, sample); len(got) > 2*maxString { // escapes at most double the length
			t.Errorf("40 nested calls of %s return %d bytes", name, len(got))
		}
	}
}
