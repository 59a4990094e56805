package query

import (
	"errors"
	"os"
	"strings"
	"testing"

	"cosmosblog/store/embedded/value"
)

// FuzzParse holds that no text makes the parser panic, that a fault lies inside the text, and that what is parsed prints
// and parses back, binds and runs.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "SELECT * FROM c", "select value count(1) from c",
		`SELECT TOP 10 c.id, c["a b"][0] AS x, {"k": [1, -2.5e3, null]} FROM docs c WHERE c.a = @p AND NOT c.b OR c.d IN (1, 'x')`,
		"SELECT DISTINCT VALUE c.a ?? 'none' FROM c WHERE c.a BETWEEN 1 AND 2 ORDER BY c.a DESC, c.b OFFSET 1 LIMIT 2",
		"SELECT VALUE (1 < 2 ? 'a' || \"b\" : LOWER('\\u00e9')) -- so",
		"SELECT * FROM c WHERE (c.id = @p AND c.pk = @q) OR (c.id = @r AND c.pk = @s)",
		"SELECT * FROM c JOIN d IN c.items", "SELECT VALUE - - -1 % +2", "SELECT \xff", "SELECT '\\ud83d\\ude00'", "((((((((",
	} {
		f.Add(text)
	}
	for _, text := range examples(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ParseCondition(text); err != nil {
			checkPlace(t, text, err)
		}
		q, err := Parse(text)
		if err != nil {
			checkPlace(t, text, err)
			return
		}
		checkRoundTrip(t, q)
		runFuzzed(t, q)
	})
}

// examples are the lines of the table of the language: its queries, and others that are not far from one.
func examples(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("../testdata/language.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.ReplaceAll(string(text), "‸", ""), "\n")
}

func checkPlace(t *testing.T, text string, err error) {
	t.Helper()
	if fault := syntaxErrorOf(t, err); fault.Offset < 0 || fault.Offset > len(text) || fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
		t.Fatalf("%q: the fault is %+v", text, fault)
	}
}

// runFuzzed runs a query, giving it every parameter that it asks for.
func runFuzzed(t *testing.T, q *Query) {
	t.Helper()
	p := Parameters{}
	bound, err := q.Bind(p)
	for range 100 {
		fault := (*SyntaxError)(nil)
		if !errors.As(err, &fault) || fault.Offset >= len(q.text) || q.text[fault.Offset] != '@' {
			break
		}
		l := lexer{text: q.text, at: fault.Offset}
		name := l.next().text
		if _, given := p[name]; given {
			return // 1 is no property's name and no string; nothing asks for more than a whole number
		}
		p[name] = value.Number(1)
		bound, err = q.Bind(p)
	}
	if err != nil {
		return
	}
	bound.Conditions()
	bound.Disjuncts()
	rows := bound.Run(sourceOf(t, nil, people...), false, Progress{})
	for {
		row, ok, err := rows.Next()
		if err != nil && !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		if _, err := value.Parse(row); err != nil && len(q.text) < value.MaxDepth {
			t.Fatalf("%s gives %s, which is not JSON: %v", q.text, row, err)
		}
	}
}
