package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/value"
)

// repeated returns a list that repeats an expression.
func repeated(expression string, times int) string {
	return strings.TrimSuffix(strings.Repeat(expression+",", times), ",")
}

// big is an item with a string of 1 MB and an array of 100,000 elements.
var big = `{"s":"` + strings.Repeat("a", 1<<20) + `","a":[` + repeated("1", 100_000) + `]}`

// TestRowsAreBounded checks that a row cannot exhaust the memory, whichever clause produces it.
func TestRowsAreBounded(t *testing.T) {
	item := Document{Text: []byte(big), Root: mustJSON(t, big)}
	for name, text := range map[string]string{
		"an array of items":       "SELECT VALUE [" + repeated("c", 10_000) + "] FROM c",
		"distinct":                "SELECT DISTINCT VALUE [" + repeated("c", 10_000) + "] FROM c",
		"an object":               "SELECT VALUE {a: [" + repeated("c", 10_000) + "], b: 1} FROM c",
		"a list":                  "SELECT c.s AS a, c.s AS b, c.s AS c, c.s AS d FROM c",
		"strings":                 "SELECT VALUE [" + repeated("CONCAT(c.s, 'x')", 2_000) + "][0] FROM c",
		"strings in WHERE":        "SELECT * FROM c WHERE IS_DEFINED([" + repeated("c.s || 'x'", 2_000) + "])",
		"strings in an aggregate": "SELECT VALUE COUNT([" + repeated("REPLACE(c.s, 'aaaaaaaa', 'bbbbbbbbbbbbbbbb')", 2_000) + "]) FROM c",
		"arrays":                  "SELECT VALUE ARRAY_LENGTH(ARRAY_CONCAT(c.a, [" + repeated("ARRAY_CONCAT(c.a, c.a)", 2_000) + "])) FROM c",
		"the text of an item":     "SELECT VALUE LENGTH(TOSTRING([" + repeated("TOSTRING(c)", 2_000) + "])) FROM c",
		"a split string":          "SELECT VALUE [" + repeated("STRINGSPLIT(c.s, 'a')", 2_000) + "][0] FROM c",
	} {
		rows := mustBind(t, text, nil).Run(sourceOfDocuments(nil, item), false, Progress{})
		if row, _, err := rows.Next(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: row of %d bytes, %v, want ErrTooLarge", name, len(row), err)
		}
		if _, _, err := rows.Next(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: second call: %v, want ErrTooLarge", name, err)
		}
	}
}

// TestConstantsAreBounded checks the same for the constants that Bind folds.
func TestConstantsAreBounded(t *testing.T) {
	q := mustParse(t, "SELECT VALUE ["+repeated("CONCAT(@s, 'x')", 2_000)+"]")
	_, err := q.Bind(Parameters{"@s": value.String(strings.Repeat("a", 1<<20))})
	if fault := syntaxErrorOf(t, err); fault.Message != "The constant expressions of the query take too much memory or time" {
		t.Error(fault)
	}
	for _, expression := range []string{"ARRAY_CONCAT(" + repeated("c.a", 10_000) + ")", "CONCAT(" + repeated("c.s", 10_000) + ")"} {
		if got := evaluate(t, expression, big); got != "undefined" {
			t.Errorf("%.20s… returns %d bytes, want undefined", expression, len(got))
		}
	}
}

// TestRowsUpToTheLimit checks that a row may be as long as MaxRow, and no longer.
func TestRowsUpToTheLimit(t *testing.T) {
	for surplus, want := range []bool{true, false} {
		s := value.String(strings.Repeat("a", MaxRow-2+surplus)) // with its quotes
		row, ok, err := mustBind(t, "SELECT VALUE @s", Parameters{"@s": s}).Run(nil, false, Progress{}).Next()
		if ok != want || errors.Is(err, ErrTooLarge) == want {
			t.Errorf("%d bytes over the limit: row of %d bytes, %v", surplus, len(row), err)
		}
	}
}

// TestRowTimeIsLimited checks that evaluation stops if functions take too long for an item, and
// that the next item has its own time limit.
func TestRowTimeIsLimited(t *testing.T) {
	filter := mustBind(t, "SELECT * FROM c WHERE "+strings.Repeat("CONTAINS(c.s, 'b') OR ", 100)+"true", nil).filter
	late := &scope{item: mustJSON(t, big), begun: time.Now().Add(-2 * maxTime)}
	if filter(late); !late.exhausted() {
		t.Error("not exhausted after twice the time limit")
	}
	if v, err := late.evaluate(filter, mustJSON(t, big)); !v.IsTrue() || err != nil {
		t.Errorf("the next item: %v, %v", v, err)
	}
}
