package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const azcoreError = `GET http://a/b
----------
RESPONSE 400: 400 Bad Request
----------
{
  "code": "x"
}
`

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"no":                "no",
		"a  b":              "a b",
		azcoreError:         `GET http://a/b RESPONSE 400: 400 Bad Request { "code": "x" }`,
		"\x1b[31mred\u202e": "[31mred",
		"minus - and -1":    "minus and -1",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
	long := oneLine(strings.Repeat("é", 1000))
	if utf8.RuneCountInString(long) != maxLineLength || !strings.HasSuffix(long, "é…") {
		t.Errorf("%q", long)
	}
}
