package query

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/engine/value"
)

// evaluate returns the JSON of an expression over an item, or "undefined". The expression may
// use the parameters @number, @text and @list.
func evaluate(t testing.TB, expression, item string) string {
	t.Helper()
	rows := query(t, "SELECT VALUE "+expression+" FROM c", Parameters{
		"@number": value.Number(7),
		"@text":   value.String("seven"),
		"@list":   mustJSON(t, "[7]"),
	}, item)
	if len(rows) == 0 {
		return "undefined"
	}
	return rows[0]
}

const sample = `{"id": "x", "n": 2, "s": "Hello", "t": true, "f": false, "z": null, "a": [1, "two", {"k": 3}],
	"o": {"p": {"q": 5}, "r": 1}, "b": "héllo 😀", "names": "s"}`

// expressionTest is an expression with its value as JSON, or "undefined".
type expressionTest struct{ expression, want string }

// expressionTests are expressions over the sample item, with their values.
var expressionTests = []expressionTest{
	// paths
	{"c.n", "2"},
	{"c.none", "undefined"},
	{"c.o.p.q", "5"},
	{`c["o"]['p']`, `{"q":5}`},
	{"c.o.none.q", "undefined"},
	{"c.a[1]", `"two"`},
	{"c.a[2].k", "3"},
	{"c.a[3]", "undefined"},
	{"c.a[-1]", "undefined"},
	{"c.a[0.5]", "undefined"},
	{"c.a[c.n].k", "3"},
	{"c[c.names]", `"Hello"`},
	{"c.a['k']", "undefined"},
	{"c.o[0]", "undefined"},
	{"c.s.length", "undefined"},
	{"c[@text]", "undefined"},
	{"@list[0]", "7"},
	{"{a: c.n, b: c.none, d: 1}", `{"a":2,"d":1}`},
	{"{a: c.none}", `{}`},
	{"{}", `{}`},
	{"[c.n, c.none, null]", `[2,null]`},
	{"{a: [c.o]}.a[0].r", "1"},

	// arithmetic
	{"c.n + 3 * 4", "14"},
	{"(c.n + 3) * 4", "20"},
	{"10 - 3 - c.n", "5"},
	{"10 - (3 - c.n)", "9"},
	{"7 / c.n", "3.5"},
	{"-7 % 4 + c.n - c.n", "-3"},
	{"5.5 % c.n", "1.5"},
	{"-c.n", "-2"},
	{"- -c.n", "2"},
	{"+c.n", "2"},
	{"-c.s", "undefined"},
	{"c.n + c.s", "undefined"},
	{"c.n + c.z", "undefined"},
	{"c.n + c.none", "undefined"},
	{"c.t + 1", "undefined"},
	{"TOSTRING(c.n / 0)", `"Infinity"`},
	{"TOSTRING(1e308 * -10 * c.n)", `"-Infinity"`},
	{"TOSTRING(c.n % 0)", `"NaN"`},
	{"c.n / 0 > 1e308", "true"},
	{"c.n / 0 = Infinity", "true"},
	{"SQRT(-c.n) = NaN", "false"},
	{"SQRT(-c.n) != NaN", "true"},
	{"SQRT(-c.n) < c.n", "undefined"},
	{"c.n BETWEEN 1 AND SQRT(-c.n)", "undefined"},
	{"[c.n / 0][1] ?? 1", "1"},
	{"@number + c.n", "9"},
	{"c.s || ', ' || @text", `"Hello, seven"`},
	{"c.s || c.n", "undefined"},

	// comparison within a type
	{"c.n = 2", "true"},
	{"c.n != 2", "false"},
	{"c.n <> 3", "true"},
	{"c.n < 3", "true"},
	{"c.n <= 2", "true"},
	{"c.n > 2", "false"},
	{"c.n >= 2.5", "false"},
	{"c.s = 'Hello'", "true"},
	{"c.s < 'Help'", "true"},
	{"c.s > 'hello'", "false"},
	{"c.t = true", "true"},
	{"c.f < c.t", "true"},
	{"c.z = null", "true"},
	{"c.z != null", "false"},
	{"c.z < null", "false"},
	{"c.a = [1, 'two', {k: 3}]", "true"},
	{"c.a = [1]", "false"},
	{"c.o = {r: 1, p: {q: 5}}", "true"},
	{"c.o = {r: 1}", "false"},

	// comparison between types, with undefined, and of the order of arrays and objects
	{"c.n = '2'", "false"},
	{"c.n != '2'", "true"},
	{"c.s != null", "true"},
	{"c.z != null", "false"},
	{"c.o != null", "true"},
	{"c.none != null", "undefined"},
	{"NOT (c.n = '2')", "true"},
	{"c.n < 'x'", "undefined"},
	{"c.z = 0", "false"},
	{"c.z = c.none", "undefined"},
	{"c.none = c.none", "undefined"},
	{"c.none != 1", "undefined"},
	{"undefined = c.none", "undefined"},
	{"c.t = 1", "false"},
	{"c.a = c.o", "false"},
	{"c.a != [1]", "true"},
	{"c.a < [2]", "undefined"},
	{"c.o >= c.o", "undefined"},

	// IN and BETWEEN
	{"c.n IN (1, 2, 3)", "true"},
	{"c.n IN (1, 3)", "false"},
	{"c.n NOT IN (1, 3)", "true"},
	{"c.n NOT IN (2)", "false"},
	{"c.s IN ('Hello', 'x')", "true"},
	{"c.s IN ('x')", "false"},
	{"c.s IN ('x', 1)", "false"},
	{"c.s IN (1, 'Hello')", "true"},
	{"c.s NOT IN ('x', 1)", "true"},
	{"c.s IN (1)", "false"},
	{"c.none IN (1)", "undefined"},
	{"c.none NOT IN (1)", "undefined"},
	{"c.n IN (undefined, 2)", "true"},
	{"c.n IN (undefined, 3)", "false"},
	{"c.z IN (null)", "true"},
	{"c.o IN ({p: {q: 5}, r: 1})", "true"},
	{"5 IN (c.n, c.o.p.q)", "true"},
	{"5 IN (c.n, 6)", "false"},
	{"5 IN (c.n, c.none)", "false"},
	{"c.none IN (c.n, c.none)", "undefined"},
	{"c.n IN (@text, @number)", "false"},
	{"c.n BETWEEN 1 AND 2", "true"},
	{"c.n BETWEEN 3 AND 4", "false"},
	{"c.n NOT BETWEEN 3 AND 4", "true"},
	{"c.n BETWEEN 3 AND 1", "false"},
	{"c.n BETWEEN 'a' AND 'b'", "undefined"},
	{"c.n BETWEEN 3 AND 'b'", "false"},
	{"c.n BETWEEN 1 AND 'b'", "undefined"},
	{"c.none BETWEEN 1 AND 2", "undefined"},
	{"c.s BETWEEN 'A' AND 'Z' AND c.t", "true"},

	// ?? and ?:
	{"c.none ?? c.n", "2"},
	{"c.z ?? c.n", "null"},
	{"c.none ?? c.none ?? 3", "3"},
	{"c.none ?? undefined", "undefined"},
	{"c.t ? 1 : 2", "1"},
	{"c.f ? 1 : 2", "2"},
	{"c.n ? 1 : 2", "2"},
	{"c.none ? 1 : 2", "2"},
	{"c.n > 1 ? c.s : c.n", `"Hello"`},
	{"c.t ? 1 : c.t ? 2 : 3", "1"},
	{"c.f ? 1 : c.t ? 2 : 3", "2"},
}

// TestEvaluate evaluates expressions over an item, and once more with the item as a constant,
// which Bind folds.
func TestEvaluate(t *testing.T) {
	for _, test := range expressionTests {
		if got := evaluate(t, test.expression, sample); got != test.want {
			t.Errorf("%s is %s, want %s", test.expression, got, test.want)
		}
		if got := folded(t, test.expression); got != test.want {
			t.Errorf("%s folded is %s, want %s", test.expression, got, test.want)
		}
	}
}

// folded evaluates an expression with the item as a parameter, so that Bind sees only constants.
func folded(t testing.TB, expression string) string {
	t.Helper()
	q := mustParse(t, "SELECT VALUE "+expression+" FROM c")
	inPlaceOfItem := &tree{value: true, selections: []selection{{expression: withParameter(q.tree.selections[0].expression)}}}
	bound, err := (&Query{tree: *inPlaceOfItem}).Bind(Parameters{
		"@item": mustJSON(t, sample), "@number": value.Number(7), "@text": value.String("seven"), "@list": mustJSON(t, "[7]"),
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := all(t, bound.Run(nil, false, Progress{}))
	if len(rows) == 0 {
		return "undefined"
	}
	return rows[0]
}

// withParameter replaces the item with the parameter @item by printing and parsing the
// expression.
func withParameter(e expression) expression {
	p := &printer{item: "@item"}
	p.print(e)
	q, err := Parse("SELECT VALUE " + string(p.text))
	if err != nil {
		panic(err)
	}
	return q.tree.selections[0].expression
}

// TestThreeValuedLogic checks the truth tables of T, F and U. U is undefined or, equivalently,
// any value that is not a boolean.
func TestThreeValuedLogic(t *testing.T) {
	values := map[byte][]string{'T': {"c.t", "true", "1 = 1"}, 'F': {"c.f", "1 = 2"}, 'U': {"c.none", "c.n", "c.z", "'true'", "1 < '1'"}}
	names := map[byte]string{'T': "true", 'F': "false", 'U': "undefined"}
	check := func(expression string, want byte) {
		t.Helper()
		if got := evaluate(t, expression, sample); got != names[want] {
			t.Errorf("%s is %s, want %s", expression, got, names[want])
		}
	}
	// left, right, AND, OR
	for _, row := range []string{"TTTT", "TFFT", "TUUT", "FTFT", "FFFF", "FUFU", "UTUT", "UFFU", "UUUU"} {
		for _, a := range values[row[0]] {
			for _, b := range values[row[1]] {
				check("("+a+") AND ("+b+")", row[2])
				check("("+a+") OR ("+b+")", row[3])
				check("c.t AND ("+a+") AND ("+b+")", row[2])
				check("c.f OR ("+a+") OR ("+b+")", row[3])
			}
		}
	}
	for _, row := range []string{"TF", "FT", "UU"} {
		for _, a := range values[row[0]] {
			check("NOT ("+a+")", row[1])
			check("NOT NOT ("+a+")", row[0])
		}
	}
}

// TestIndexedOr compares an OR with an index of its arms with the same arms evaluated one by
// one. One arm is true for some items, undefined for others, and false for the rest.
func TestIndexedOr(t *testing.T) {
	items := []string{`{"id":"3","pk":"x"}`, `{"id":"3","pk":"y"}`, `{"id":"3","pk":1}`, `{"id":"3"}`, `{"id":"none","pk":"x"}`,
		`{"id":4,"pk":"x"}`, `{"pk":"none"}`, `{"id":null,"pk":"x"}`, `{"id":"5","pk":"y"}`}
	var arms []string
	for i := range 2 * minimumIndexed {
		arms = append(arms, fmt.Sprintf("(c.id = '%d' AND c.pk = 'x')", i))
	}
	arms = append(arms, "(c.pk = 'y' AND c.id = '5')", "c.id = '3' AND c.pk = 'z'")
	for _, item := range items {
		want := evaluate(t, arms[0], item)
		for _, arm := range arms[1:] {
			want = evaluate(t, want+" OR "+arm, item)
		}
		if got := evaluate(t, strings.Join(arms, " OR "), item); got != want {
			t.Errorf("item %s: %s, want %s", item, got, want)
		}
	}
}

// TestWhere checks that WHERE selects an item only if its condition is exactly true.
func TestWhere(t *testing.T) {
	items := []string{`{"id":1,"x":true}`, `{"id":2,"x":false}`, `{"id":3,"x":null}`, `{"id":4}`, `{"id":5,"x":1}`, `{"id":6,"x":"true"}`}
	for _, test := range []struct {
		where string
		want  []string
	}{
		{"c.x", []string{"1"}},
		{"NOT c.x", []string{"2"}},
		{"c.x = true", []string{"1"}},
		{"c.x != true", []string{"2", "3", "5", "6"}},
		{"NOT (c.x = true)", []string{"2", "3", "5", "6"}},
		{"c.x = null", []string{"3"}},
		{"NOT IS_DEFINED(c.x)", []string{"4"}},
		{"c.x ?? true", []string{"1", "4"}},
		{"c.x OR c.id >= 5", []string{"1", "5", "6"}},
	} {
		checkRows(t, query(t, "SELECT VALUE c.id FROM c WHERE "+test.where, nil, items...), test.want...)
	}
}

func TestMatches(t *testing.T) {
	q, err := ParseCondition("FROM c WHERE c.version = @v AND NOT c.deleted")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := q.Bind(Parameters{"@v": value.Number(2)})
	if err != nil {
		t.Fatal(err)
	}
	for item, want := range map[string]bool{
		`{"version":2,"deleted":false}`: true,
		`{"version":1,"deleted":false}`: false,
		`{"version":2,"deleted":true}`:  false,
		`{"version":2}`:                 false,
	} {
		if got := bound.Matches(mustJSON(t, item)); got != want {
			t.Errorf("Matches(%s) = %v, want %v", item, got, want)
		}
	}
}
