package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cosmosblog/store/embedded/value"
)

// repeated is a list of so many of one expression.
func repeated(expression string, times int) string {
	return strings.TrimSuffix(strings.Repeat(expression+",", times), ",")
}

// big is an item with a text of a megabyte and an array of a hundred thousand elements.
var big = `{"s":"` + strings.Repeat("a", 1<<20) + `","a":[` + repeated("1", 100_000) + `]}`

// TestRowsStayBounded holds that no row fills the memory, whatever clause makes it.
func TestRowsStayBounded(t *testing.T) {
	for name, text := range map[string]string{
		"an array of items":      "SELECT VALUE [" + repeated("c", 100_000) + "] FROM c",
		"distinct":               "SELECT DISTINCT VALUE [" + repeated("c", 100_000) + "] FROM c",
		"an object":              "SELECT VALUE {a: [" + repeated("c", 50_000) + "], b: 1} FROM c",
		"a list":                 "SELECT c.s AS a, c.s AS b, c.s AS c, c.s AS d FROM c",
		"texts":                  "SELECT VALUE [" + repeated("CONCAT(c.s, 'x')", 20_000) + "][0] FROM c",
		"texts in WHERE":         "SELECT * FROM c WHERE IS_DEFINED([" + repeated("c.s || 'x'", 20_000) + "])",
		"texts in an aggregate":  "SELECT VALUE COUNT([" + repeated("REPLACE(c.s, 'a', 'bb')", 20_000) + "]) FROM c",
		"arrays":                 "SELECT VALUE ARRAY_LENGTH(ARRAY_CONCAT(c.a, [" + repeated("ARRAY_CONCAT(c.a, c.a)", 20_000) + "])) FROM c",
		"the text of an array":   "SELECT VALUE LENGTH(TOSTRING([" + repeated("TOSTRING(c.a)", 20_000) + "])) FROM c",
		"an array that is split": "SELECT VALUE [" + repeated("STRINGSPLIT(c.s, 'a')", 20_000) + "][0] FROM c",
	} {
		rows := mustBind(t, text, nil).Run(sourceOf(t, nil, big), false, Progress{})
		if row, _, err := rows.Next(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: a row of %d bytes, %v", name, len(row), err)
		}
		if _, _, err := rows.Next(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: then %v", name, err)
		}
	}
}

// TestConstantsStayBounded holds the same of what Bind folds.
func TestConstantsStayBounded(t *testing.T) {
	q := mustParse(t, "SELECT VALUE ["+repeated("CONCAT(@s, 'x')", 20_000)+"]")
	_, err := q.Bind(Parameters{"@s": value.String(strings.Repeat("a", 1<<20))})
	if fault := syntaxErrorOf(t, err); fault.Message != "The constants of the query take too much memory or time" {
		t.Error(fault)
	}
	for _, expression := range []string{"ARRAY_CONCAT(" + repeated("c.a", 100_000) + ")", "CONCAT(" + repeated("c.s", 100_000) + ")"} {
		if got := evaluate(t, expression, big); got != "undefined" {
			t.Errorf("%.20s… gives %d bytes", expression, len(got))
		}
	}
}

// TestRowsUpToTheLimit holds that what is no longer than a page is given.
func TestRowsUpToTheLimit(t *testing.T) {
	for surplus, want := range []bool{true, false} {
		s := value.String(strings.Repeat("a", MaxRow-2+surplus)) // with its quotes
		row, ok, err := mustBind(t, "SELECT VALUE @s", Parameters{"@s": s}).Run(nil, false, Progress{}).Next()
		if ok != want || errors.Is(err, ErrTooLarge) == want {
			t.Errorf("%d bytes too many: a row of %d, %v", surplus, len(row), err)
		}
	}
}

// TestRowsEndInTime holds that an item is given up once functions have taken too long for it, and that the next has its own
// time.
func TestRowsEndInTime(t *testing.T) {
	filter := mustBind(t, "SELECT * FROM c WHERE "+strings.Repeat("CONTAINS(c.s, 'b') OR ", 100)+"true", nil).filter
	late := &scope{item: mustJSON(t, big), begun: time.Now().Add(-2 * maxTime)}
	if filter(late); !late.exhausted() {
		t.Error("after twice the time nothing is given up")
	}
	if v, err := late.evaluate(filter, mustJSON(t, big)); !v.IsTrue() || err != nil {
		t.Errorf("the next item: %v, %v", v, err)
	}
}
