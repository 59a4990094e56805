package query

import (
	"reflect"
	"strings"
	"testing"
)

// TestPrint compares the canonical text of queries, and checks that the canonical text parses to
// the same tree.
func TestPrint(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"select * from c", "SELECT * FROM c"},
		{"SELECT * FROM docs c", "SELECT * FROM docs AS c"},
		{"SELECT * FROM root AS r", "SELECT * FROM root AS r"},
		{"SELECT VALUE root FROM root", "SELECT VALUE root FROM root"},
		{"SELECT VALUE 1", "SELECT VALUE 1"},
		{"select distinct top 3 value c.id from c", "SELECT DISTINCT TOP 3 VALUE c.id FROM c"},
		{"SELECT TOP @n * FROM c", "SELECT TOP @n * FROM c"},
		{"SELECT c.id, c.a.b AS x, c.n y, 1 FROM c", "SELECT c.id, c.a.b AS x, c.n AS y, 1 FROM c"},
		{`SELECT c["a"]['b'][0][c.i].d FROM c`, "SELECT c.a.b[0][c.i].d FROM c"},
		{`SELECT c["order"], c["a b"], c[""], c.first FROM c`, `SELECT c["order"], c["a b"], c[""], c.first FROM c`},
		{`SELECT VALUE (c.a).b FROM c`, "SELECT VALUE c.a.b FROM c"},
		{`SELECT VALUE {a: 1, "b c": [2, []]}.a`, `SELECT VALUE {"a": 1, "b c": [2, []]}.a`},
		{`SELECT VALUE (5).a`, "SELECT VALUE (5).a"},
		{`SELECT VALUE 'it\'s "so" \u00e9\ud83d\ude00\n\/'`, `SELECT VALUE "it's \"so\" é😀\n/"`},
		{"SELECT VALUE 1. + .5 + 1e3 + 2.5E-1", "SELECT VALUE 1 + 0.5 + 1000 + 0.25"},
		{"SELECT VALUE undefined ?? null ?? true", "SELECT VALUE undefined ?? null ?? true"},
		{"SELECT VALUE - -1", "SELECT VALUE -(-1)"},
		{"SELECT VALUE -(1 + 2) * +3", "SELECT VALUE -(1 + 2) * +3"},
		{"SELECT VALUE 1 + 2 * 3 - 4 / 5 % 6", "SELECT VALUE 1 + 2 * 3 - 4 / 5 % 6"},
		{"SELECT VALUE (1 + 2) * (3 - (4 - 5)) + (6)", "SELECT VALUE (1 + 2) * (3 - (4 - 5)) + 6"},
		{"SELECT VALUE (1 - 2) - 3", "SELECT VALUE (1 - 2) - 3"},
		{"SELECT VALUE 'a' || 'b' || 'c'", `SELECT VALUE "a" || "b" || "c"`},
		{"SELECT VALUE ('a' || 'b') = 'ab'", `SELECT VALUE ("a" || "b") = "ab"`},
		{"SELECT VALUE 1 = 1 ? 2 : (3 > 2 ? 4 : 5)", "SELECT VALUE 1 = 1 ? 2 : 3 > 2 ? 4 : 5"},
		{"SELECT VALUE 1 ? 2 : 3 ? 4 : 5 ? 6 : 7", "SELECT VALUE 1 ? 2 : 3 ? 4 : 5 ? 6 : 7"},
		{"SELECT VALUE (1 ? 2 : 3) ? (4 ? 5 : 6) : (7 ?? 8)", "SELECT VALUE (1 ? 2 : 3) ? 4 ? 5 : 6 : (7 ?? 8)"},
		{"SELECT VALUE (1 ?? 2) ? 3 ?? 4 : 5", "SELECT VALUE (1 ?? 2) ? 3 ?? 4 : 5"},
		{"SELECT * FROM c WHERE c.a=1 and c.b<>2 or not c.d", "SELECT * FROM c WHERE c.a = 1 AND c.b != 2 OR NOT c.d"},
		{"SELECT * FROM c WHERE (c.a or c.b) and (c.d)", "SELECT * FROM c WHERE (c.a OR c.b) AND c.d"},
		{"SELECT * FROM c WHERE not not (c.a = 1)", "SELECT * FROM c WHERE NOT NOT (c.a = 1)"},
		{"SELECT * FROM c WHERE c.a in (1, @b) and c.d not in ('x')", `SELECT * FROM c WHERE c.a IN (1, @b) AND c.d NOT IN ("x")`},
		{"SELECT * FROM c WHERE c.a between 1 and 2 and c.b not between 3 and 4 + 5",
			"SELECT * FROM c WHERE c.a BETWEEN 1 AND 2 AND c.b NOT BETWEEN 3 AND 4 + 5"},
		{"SELECT * FROM c ORDER BY c.type, c.a.b DESC, c['x y'] ASC", `SELECT * FROM c ORDER BY c.type, c.a.b DESC, c["x y"]`},
		{"SELECT * FROM c OFFSET @o LIMIT 10", "SELECT * FROM c OFFSET @o LIMIT 10"},
		{"SELECT value count(1) FROM c", "SELECT VALUE COUNT(1) FROM c"},
		{"SELECT min(c.a) AS least, {n: count(1)} FROM c", `SELECT MIN(c.a) AS least, {"n": COUNT(1)} FROM c`},
		{"SELECT VALUE left('ab', 1) || Right('cd', 1)", `SELECT VALUE LEFT("ab", 1) || RIGHT("cd", 1)`},
		{"-- the items\nSELECT * -- all\nFROM c --", "SELECT * FROM c"},
	} {
		q := mustParse(t, test.text)
		if got := q.String(); got != test.want {
			t.Errorf("%s\nprints as %s\n    want  %s", test.text, got, test.want)
		}
		checkRoundTrip(t, q)
	}
}

func checkRoundTrip(t testing.TB, q *Query) {
	t.Helper()
	again, err := Parse(q.String())
	if err != nil {
		t.Fatalf("%s\nprints as %s\nwhich is rejected: %v", q.text, q.String(), err)
	}
	if !sameTree(reflect.ValueOf(q.tree), reflect.ValueOf(again.tree)) {
		t.Fatalf("%s\nprints as %s\nwhich parses to another tree", q.text, q.String())
	}
}

func TestParseCondition(t *testing.T) {
	q, err := ParseCondition("from c where c.version = @v")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := q.String(), "SELECT * FROM c WHERE c.version = @v"; got != want {
		t.Errorf("condition prints as %s, want %s", got, want)
	}
	checkRoundTrip(t, q)
	for _, text := range []string{"", "c.version = 1", "from c", "from c where c.a order by c.a", "select * from c where c.a"} {
		if _, err := ParseCondition(text); err == nil {
			t.Errorf("ParseCondition accepted %q", text)
		}
	}
}

// rejectedQueries are invalid queries with their error messages. A ‸ marks the error position.
// The message is not compared if it is empty.
var rejectedQueries = []struct{ text, message string }{
	{"‸", "Expected ‘SELECT’, found the end of the query"},
	{"‸UPDATE c", "Expected ‘SELECT’, found ‘UPDATE’"},
	{"SELECT ‸FROM c", "Expected an expression, found ‘FROM’"},
	{"SELECT * FROM ‸", "Expected the name of a container, found the end of the query"},
	{"SELECT * FROM c WHERE1 ‸= 1", "Expected the end of the query, found ‘=’"},
	{"SELECT * FROM c WHERE ‸", "Expected an expression, found the end of the query"},
	{"SELECT * FROM c WHERE c.a = ‸", "Expected an expression, found the end of the query"},
	{"SELECT * FROM c WHERE c‸.1", "Expected the end of the query, found ‘.1’"},
	{"SELECT * FROM c WHERE (c.a‸", "Expected ‘)’, found the end of the query"},
	{"SELECT * FROM c WHERE c.a ‸c.b", "Expected the end of the query, found ‘c’"},
	{"SELECT * FROM c ‸;", "Unexpected character"},
	{"SELECT *‸, c.a FROM c", ""},
	{"SELECT VALUE ‸* FROM c", ""},
	{"‸SELECT *", "SELECT * needs FROM"},
	{"SELECT ‸d.a FROM c", "The name ‘d’ is unknown: FROM names the item ‘c’"},
	{"SELECT ‸root.a FROM root AS c", "The name ‘root’ is unknown: FROM names the item ‘c’"},
	{"SELECT ‸c.a", "The name ‘c’ is unknown: the query has no FROM"},
	{"SELECT * FROM c WHERE c.a = ‸TRUE", "‘TRUE’ must be in lower case"},
	{"SELECT * FROM c WHERE c.‸order = 1", `‘order’ is a keyword; write the property as ["order"]`},
	{"SELECT * FROM c WHERE c.‸Value = 1", `‘Value’ is a keyword; write the property as ["Value"]`},
	{"SELECT c.a, ‸c.a FROM c", "SELECT has two results named ‘a’"},
	{`SELECT VALUE {"a": 1, ‸"a": 2}`, "The object has two properties ‘a’"},

	{"SELECT * FROM c ‸JOIN d IN c.items", "JOIN is not supported"},
	{"SELECT * FROM c WHERE c.a = 1 ‸GROUP BY c.a", "GROUP BY is not supported"},
	{"SELECT * FROM c WHERE c.a ‸LIKE 'x%'", "LIKE is not supported"},
	{"SELECT * FROM c WHERE c.a NOT ‸LIKE 'x%'", "LIKE is not supported"},
	{"SELECT * FROM c WHERE ‸EXISTS(SELECT VALUE 1)", "Subqueries (EXISTS) are not supported"},
	{"SELECT ‸ARRAY(SELECT VALUE 1) FROM c", "Subqueries (ARRAY) are not supported"},
	{"SELECT (‸SELECT VALUE 1) FROM c", "Subqueries (SELECT) are not supported"},
	{"SELECT * FROM c WHERE c.a IN (‸SELECT VALUE 1)", "Subqueries (SELECT) are not supported"},
	{"SELECT * FROM ‸(SELECT * FROM c)", "Subqueries (FROM) are not supported"},
	{"SELECT * FROM c ‸IN d.items", "FROM with IN is not supported"},
	{"SELECT * FROM c‸.items", "FROM with a path is not supported"},
	{"SELECT * FROM c‸, d", "FROM with several sources is not supported"},
	{"SELECT ‸udf.f(c.a) FROM c", "User-defined functions are not supported"},
	{"SELECT * FROM c ORDER BY ‸RANK f(c.a)", "ORDER BY RANK is not supported"},
	{"SELECT ‸ST_DISTANCE(c.a, c.b) FROM c", "The function ST_DISTANCE is not supported"},
	{"SELECT * FROM c WHERE ‸FullTextContains(c.title, 'x')", "The function FULLTEXTCONTAINS is not supported"},
	{"SELECT VALUE 1 ‸& 2", "Bitwise operators are not supported"},
	{"SELECT VALUE ‸0x1F", "Malformed number"},
	{"SELECT VALUE c.a ‸AS b FROM c", "Expected the end of the query, found ‘AS’"},

	{"SELECT ‸LOWER() FROM c", "LOWER takes 1 argument"},
	{"SELECT ‸CONTAINS(c.a) FROM c", "CONTAINS takes 2 or 3 arguments"},
	{"SELECT ‸CONCAT(c.a) FROM c", "CONCAT takes at least 2 arguments"},
	{"SELECT ‸POWER(1, 2, 3) FROM c", "POWER takes 2 arguments"},
	{"SELECT COUNT(‸*) FROM c", "COUNT(*) is not supported; write COUNT(1)"},
	{"SELECT SUM(‸MAX(c.a)) FROM c", "An aggregate is not allowed inside another"},
	{"SELECT * FROM c WHERE ‸COUNT(1) > 1", "An aggregate is allowed in SELECT only"},
	{"SELECT COUNT(1), ‸c.a FROM c", "A property next to an aggregate needs GROUP BY, which is not supported"},
	{"SELECT ‸NaN.a", "The name ‘NaN’ is unknown: the query has no FROM"},
	{"SELECT ‸nan", "The name ‘nan’ is unknown: the query has no FROM"},

	{"SELECT TOP ‸-1 * FROM c", "Expected the number or the parameter of TOP, found ‘-’"},
	{"SELECT TOP ‸1.5 * FROM c", "TOP must be a whole number from 0 to 2147483647"},
	{"SELECT * FROM c OFFSET ‸1e10 LIMIT 1", "OFFSET must be a whole number from 0 to 2147483647"},
	{"SELECT * FROM c OFFSET 1‸", "Expected ‘LIMIT’, found the end of the query"},
	{"SELECT * FROM c ‸LIMIT 1", "LIMIT is allowed after OFFSET only"},
	{"SELECT * FROM c ORDER BY ‸1", "ORDER BY accepts only paths of the item's properties"},
	{"SELECT * FROM c ORDER BY ‸c", "ORDER BY accepts only paths of the item's properties"},
	{"SELECT * FROM c ORDER BY c.a, ‸c.b + 1 DESC", "ORDER BY accepts only paths of the item's properties"},

	{"SELECT VALUE 1 = 2 ‸= 3", "A comparison next to another needs parentheses"},
	{"SELECT VALUE 1 IN (1) ‸= true", "A comparison next to another needs parentheses"},
	{"SELECT VALUE 'a' || 'b' ‸= 'ab'", "‘||’ next to a comparison needs parentheses"},
	{"SELECT VALUE 'ab' = 'a' ‸|| 'b'", "A comparison next to another needs parentheses"},
	{"SELECT VALUE NOT 1 ‸= 2", "NOT before a comparison needs parentheses"},
	{"SELECT VALUE NOT 1 ‸IN (2)", "NOT before a comparison needs parentheses"},
	{"SELECT VALUE 1 = ‸NOT true", "Expected an expression, found ‘NOT’"},
	{"SELECT VALUE 1 ?? 2 ‸? 3 : 4", "‘??’ next to a conditional needs parentheses"},
	{"SELECT VALUE 1 ? 2 : 3 ‸?? 4", "A conditional next to ‘??’ needs parentheses"},

	{"SELECT VALUE ‸'abc", "Unterminated string"},
	{"SELECT VALUE 'a‸\nb'", "Control character in a string; write it as an escape, such as \\n"},
	{`SELECT VALUE 'a‸\x'`, "Unknown escape in a string"},
	{`SELECT VALUE 'a‸\`, "Unknown escape in a string"},
	{`SELECT VALUE 'a‸\u12g4'`, `A \u escape needs four hexadecimal digits`},
	{"SELECT VALUE ‸1e", "The exponent of the number has no digits"},
	{"SELECT VALUE ‸1x", "Malformed number"},
	{"SELECT VALUE ‸1e999", "Number out of range"},
	{"SELECT VALUE ‸@1", "The name of a parameter must begin with a letter after the ‘@’"},
	{"SELECT VALUE 'a‸\xff'", "The query is not UTF-8"},
}

// TestParseRejectsInvalidQueries checks the position and the message of errors.
func TestParseRejectsInvalidQueries(t *testing.T) {
	for _, test := range rejectedQueries {
		at := strings.Index(test.text, "‸")
		text := strings.Replace(test.text, "‸", "", 1)
		_, err := Parse(text)
		if err == nil {
			t.Errorf("Parse accepted %s", text)
			continue
		}
		fault := syntaxErrorOf(t, err)
		if fault.Offset != at || test.message != "" && fault.Message != test.message {
			t.Errorf("%s\nfails at %d with %q\n want  at %d with %q", text, fault.Offset, fault.Message, at, test.message)
		}
	}
}

func TestSyntaxErrorPosition(t *testing.T) {
	_, err := Parse("SELECT *\nFROM c\nWHERE 'é' = = 1")
	fault := syntaxErrorOf(t, err)
	if fault.Line != 3 || fault.Column != 13 || fault.Offset != 29 {
		t.Errorf("error at line %d, column %d, offset %d; want 3, 13, 29", fault.Line, fault.Column, fault.Offset)
	}
	if want := "Expected an expression, found ‘=’, at line 3, column 13"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestNesting(t *testing.T) {
	for _, brackets := range []string{"()", "[]"} {
		nested := func(depth int) string {
			return "SELECT VALUE " + strings.Repeat(brackets[:1], depth) + "1" + strings.Repeat(brackets[1:], depth)
		}
		checkRoundTrip(t, mustParse(t, nested(maxNesting-1)))
		if _, err := Parse(nested(maxNesting)); err == nil {
			t.Errorf("Parse accepted %d nested %s", maxNesting, brackets)
		}
	}
	for _, text := range []string{"NOT ", "- ", "LOWER(", "{a:", "[", "("} {
		if _, err := Parse("SELECT VALUE " + strings.Repeat(text, MaxText/len(text))); err == nil {
			t.Errorf("Parse accepted unlimited nesting of %q", text)
		}
	}
}

// TestNestedBetween checks that an operand is compiled and evaluated only once. Twice at each
// level would take exponential time.
func TestNestedBetween(t *testing.T) {
	const depth = maxNesting - 10
	text := "SELECT VALUE " + strings.Repeat("(", depth) + "c.a" + strings.Repeat(" BETWEEN false AND true)", depth) + " FROM c"
	bound, err := mustParse(t, text).Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	item := mustJSON(t, `{"a":true}`)
	if got := bound.row(&scope{item: item}); !got.IsTrue() {
		t.Errorf("got %v, want true", got)
	}
}

// TestLongQueries checks that queries of any length are accepted if they are not nested deeply.
func TestLongQueries(t *testing.T) {
	for _, operator := range []string{" OR ", " AND ", " + ", " || ", " ?? "} {
		q := mustParse(t, "SELECT VALUE c.a FROM c WHERE c.a"+strings.Repeat(operator+"c.b", MaxText/10))
		if _, err := q.Bind(nil); err != nil {
			t.Fatal(err)
		}
		if len(q.String()) < MaxText/10 {
			t.Error("the canonical text is too short")
		}
	}
	mustParse(t, "SELECT VALUE c"+strings.Repeat(".a", MaxText/3)+" FROM c")
}
