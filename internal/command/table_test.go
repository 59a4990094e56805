package command

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":     "",
		"no":   "no",
		"a  b": "a b",
		"GET http://a/b\n----------\nRESPONSE 400: 400 Bad Request\n----------\n{\n  \"code\": \"x\"\n}\n": `GET http://a/b RESPONSE 400: 400 Bad Request { "code": "x" }`,
		"\x1b[31mred\u202e": "[31mred",
		"minus - and -1":    "minus and -1",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
	if long := oneLine(strings.Repeat("é", 1000)); utf8.RuneCountInString(long) != longestLine || !strings.HasSuffix(long, "é…") {
		t.Errorf("%q", long)
	}
}
