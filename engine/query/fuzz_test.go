package query

import (
	"errors"
	"os"
	"strings"
	"testing"

	"cosmosblog/engine/value"
)

// FuzzParse checks that no text makes the parser panic and that the position of an error is
// inside the text. A parsed query must print, parse again to an equal query, bind and run.
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
			checkPosition(t, text, err)
		}
		q, err := Parse(text)
		if err != nil {
			checkPosition(t, text, err)
			return
		}
		checkRoundTrip(t, q)
		runFuzzed(t, q)
	})
}

// examples returns the queries of the language table and the samples of functions, and other lines
// that resemble queries.
func examples(t testing.TB) []string {
	t.Helper()
	language, err := os.ReadFile("../testdata/language.txt")
	functions, err2 := os.ReadFile("../testdata/functions.txt")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(strings.ReplaceAll(string(language), "‸", ""), "\n")
	for _, line := range strings.Split(string(functions), "\n") {
		sample, _, _ := strings.Cut(line, " → ")
		if !strings.HasPrefix(sample, "SELECT") {
			sample = "SELECT VALUE " + sample + " FROM c"
		}
		texts = append(texts, sample)
	}
	return texts
}

func checkPosition(t *testing.T, text string, err error) {
	t.Helper()
	if fault := syntaxErrorOf(t, err); fault.Offset < 0 || fault.Offset > len(text) || fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
		t.Fatalf("%q: invalid error %+v", text, fault)
	}
}

// runFuzzed runs a query with a value for every parameter.
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
			return // the value 1 does not suit every use, such as a property name
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
		if err != nil && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrNotFinite) {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		if _, err := value.Parse(row); err != nil && len(q.text) < value.MaxDepth {
			t.Fatalf("%s returns %s, which is not JSON: %v", q.text, row, err)
		}
	}
}
