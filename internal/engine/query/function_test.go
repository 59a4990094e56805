package query

import (
	"strconv"
	"strings"
	"testing"
)

// functionTests are calls over the sample item, with their results.
var functionTests = []expressionTest{
	{"CONTAINS(c.s, 'ell')", "true"},
	{"CONTAINS(c.s, 'ELL')", "false"},
	{"CONTAINS(c.s, 'ELL', true)", "true"},
	{"CONTAINS(c.s, 'ELL', false)", "false"},
	{"CONTAINS(c.s, 'ell', 1)", "undefined"},
	{"CONTAINS(c.n, 'ell')", "undefined"},
	{"CONTAINS(c.none, 'ell')", "undefined"},
	{"CONTAINS(c.s, '')", "true"},
	{"CONTAINS(c.s, 'ell', c.none)", "undefined"},
	{"STARTSWITH(c.s, 'He')", "true"},
	{"STARTSWITH(c.s, 'he')", "false"},
	{"startswith(c.s, 'hE', true)", "true"},
	{"ENDSWITH(c.s, 'lo')", "true"},
	{"EndsWith(c.s, 'LO', true)", "true"},
	{"ENDSWITH(c.s, 'l')", "false"},
	{"STRINGEQUALS(c.s, 'Hello')", "true"},
	{"STRINGEQUALS(c.s, 'hello')", "false"},
	{"STRINGEQUALS(c.b, 'HÉLLO 😀', true)", "true"},
	{"STRINGEQUALS(c.n, 2)", "undefined"},
	{"LOWER(c.s)", `"hello"`},
	{"UPPER(c.b)", `"HÉLLO 😀"`},
	{"UPPER(c.n)", "undefined"},
	{"LENGTH(c.b)", "7"},
	{"LENGTH('')", "0"},
	{"LENGTH(c.a)", "undefined"},
	{"TRIM('  a b\\t ')", `"a b"`},
	{"LTRIM('  a ')", `"a "`},
	{"RTRIM('  a ')", `"  a"`},
	{"TRIM('--_a-_', '-_')", `"a"`},
	{"TRIM('-- a --', '-')", `" a "`},
	{"LTRIM('xxaxx', 'x')", `"axx"`},
	{"RTRIM('xxaxx', 'x')", `"xxa"`},
	{"TRIM(' a ', '')", `" a "`},
	{"TRIM(' a ', 1)", "undefined"},
	{"TRIM(' a ', c.none)", "undefined"},
	{"TRIM('\u00a0\u3000a\u2028')", `"a"`},
	{"REVERSE(c.b)", `"😀 olléh"`},
	{"SUBSTRING(c.b, 1, 3)", `"éll"`},
	{"SUBSTRING(c.b, 6, 100)", `"😀"`},
	{"SUBSTRING(c.b, 7, 1)", `""`},
	{"SUBSTRING(c.b, 0, -1)", `""`},
	{"SUBSTRING(c.b, -1, 2)", `""`},
	{"SUBSTRING(c.b, 0.5, 2)", "undefined"},
	{"SUBSTRING(c.b, 0, '2')", "undefined"},
	{"LEFT(c.b, 2)", `"hé"`},
	{"LEFT(c.b, 0)", `""`},
	{"LEFT(c.b, 1e30)", `"héllo 😀"`},
	{"RIGHT(c.b, 2)", `" 😀"`},
	{"RIGHT(c.b, 100)", `"héllo 😀"`},
	{"RIGHT(c.b, -1)", `""`},
	{"RIGHT(c.b, c.none)", "undefined"},
	{"INDEX_OF(c.b, 'l')", "2"},
	{"INDEX_OF(c.b, 'l', 3)", "3"},
	{"INDEX_OF(c.b, 'l', 4)", "-1"},
	{"INDEX_OF(c.b, '😀')", "6"},
	{"INDEX_OF(c.b, 1)", "undefined"},
	{"REPLACE(c.s, 'l', 'LL')", `"HeLLLLo"`},
	{"REPLACE(c.s, '', 'x')", "undefined"},
	{"REPLICATE('ab', 3)", `"ababab"`},
	{"REPLICATE('ab', 0)", `""`},
	{"REPLICATE('ab', -1)", "undefined"},
	{"REPLICATE('ab', 5001)", "undefined"},
	{"CONCAT(c.s, ' ', 'you')", `"Hello you"`},
	{"CONCAT(c.s, c.n)", "undefined"},
	{"TOSTRING(c.s)", `"Hello"`},
	{"TOSTRING(c.n)", `"2"`},
	{"TOSTRING(c.z)", `"null"`},
	{"TOSTRING(c.a)", `"[1,\"two\",{\"k\":3}]"`},
	{"TOSTRING(c.none)", "undefined"},
	{"STRINGTONUMBER(' -1.5e2 ')", "-150"},
	{"STRINGTONUMBER('1x')", "undefined"},
	{"STRINGTONUMBER('null')", "undefined"},
	{"STRINGTONUMBER(1)", "undefined"},
	{"STRINGTONUMBER('-1.79769e+308')", "-1.79769e+308"},
	{"STRINGTONULL(' null ')", "null"},
	{"STRINGTONULL('Null')", "undefined"},
	{"STRINGTONULL(null)", "undefined"},
	{"STRINGTOBOOLEAN(' false')", "false"},
	{"STRINGTOBOOLEAN('TRUE')", "undefined"},
	{"STRINGTOBOOLEAN(true)", "undefined"},
	{"STRINGTOARRAY('[[1], {\"a\": null}] ')", `[[1],{"a":null}]`},
	{"STRINGTOARRAY(\"['a']\")", "undefined"},
	{"STRINGTOARRAY('{}')", "undefined"},
	{"STRINGTOOBJECT('{\"a\": {\"b\": 1}}')", `{"a":{"b":1}}`},
	{"STRINGTOOBJECT('[]')", "undefined"},
	{"STRINGJOIN(['a', 'b', 'c'], ', ')", `"a, b, c"`},
	{"STRINGJOIN([], ', ')", `""`},
	{"STRINGJOIN(['a', 1], ', ')", "undefined"},
	{"STRINGJOIN(['a'], c.none)", "undefined"},
	{"STRINGJOIN('ab', ',')", "undefined"},
	{"STRINGSPLIT('a_b__c', '_')", `["a","b","","c"]`},
	{"STRINGSPLIT('a b', '')", `["a b"]`},
	{"STRINGSPLIT('', '')", `[""]`},
	{"STRINGSPLIT('ab', 1)", "undefined"},

	{"ABS(-c.n)", "2"},
	{"ABS(c.s)", "undefined"},
	{"CEILING(1.2)", "2"},
	{"FLOOR(-1.2)", "-2"},
	{"ROUND(2.5)", "3"},
	{"ROUND(-2.5)", "-3"},
	{"ROUND(2.4)", "2"},
	{"SQRT(9)", "3"},
	{"SQRT(-1)", "undefined"},
	{"POWER(c.n, 10)", "1024"},
	{"POWER(c.n, 5000)", "undefined"},
	{"POWER(c.n, 'x')", "undefined"},
	{"SIGN(-5)", "-1"},
	{"SIGN(0)", "0"},
	{"SIGN(0.1)", "1"},
	{"TRUNC(-1.9)", "-1"},

	{"ARRAY_LENGTH(c.a)", "3"},
	{"ARRAY_LENGTH(c.s)", "undefined"},
	{"ARRAY_CONTAINS(c.a, 'two')", "true"},
	{"ARRAY_CONTAINS(c.a, '1')", "false"},
	{"ARRAY_CONTAINS(c.a, {k: 3})", "true"},
	{"ARRAY_CONTAINS([{k: 3, l: 4}], {k: 3})", "false"},
	{"ARRAY_CONTAINS([{k: 3, l: 4}], {k: 3}, true)", "true"},
	{"ARRAY_CONTAINS([{k: 3, l: 4}], {k: 4}, true)", "false"},
	{"ARRAY_CONTAINS([{k: {m: 1, o: 2}}], {k: {m: 1}}, true)", "false"},
	{"ARRAY_CONTAINS([1, 2], 2, true)", "true"},
	{"ARRAY_CONTAINS(c.a, c.none)", "undefined"},
	{"ARRAY_CONTAINS(c.n, 1)", "undefined"},
	{"ARRAY_CONTAINS(c.a, 1, c.none)", "true"},
	{"ARRAY_CONTAINS_ANY(c.a, 'one', 'two')", "true"},
	{"ARRAY_CONTAINS_ANY(c.a, 2, 3)", "false"},
	{"ARRAY_CONTAINS_ANY(c.a, 1, undefined)", "true"},
	{"ARRAY_CONTAINS_ANY(c.a, 2, undefined)", "undefined"},
	{"ARRAY_CONTAINS_ANY([], 1)", "false"},
	{"ARRAY_CONTAINS_ANY(c.n, 2)", "undefined"},
	{"ARRAY_CONTAINS_ALL(c.a, 'two', {k: 3})", "true"},
	{"ARRAY_CONTAINS_ALL(c.a, 'two', 2)", "false"},
	{"ARRAY_CONTAINS_ALL(c.a, 1, undefined)", "undefined"},
	{"ARRAY_CONTAINS_ALL(c.a, 2, undefined)", "false"},
	{"ARRAY_CONTAINS_ALL([], 1)", "false"},
	{"ARRAY_SLICE(c.a, 1)", `["two",{"k":3}]`},
	{"ARRAY_SLICE(c.a, 1, c.none)", "undefined"},
	{"ARRAY_SLICE(c.a, 1, 1)", `["two"]`},
	{"ARRAY_SLICE(c.a, -1)", `[{"k":3}]`},
	{"ARRAY_SLICE(c.a, -10, 1)", `[1]`},
	{"ARRAY_SLICE(c.a, 5)", `[]`},
	{"ARRAY_SLICE(c.a, 0, -1)", `[]`},
	{"ARRAY_SLICE(c.a, 0.5)", "undefined"},
	{"ARRAY_SLICE(c.a, 0, 'x')", "undefined"},
	{"ARRAY_CONCAT(c.a, [5], [])", `[1,"two",{"k":3},5]`},
	{"ARRAY_CONCAT(c.a, 5)", "undefined"},

	{"IS_INTEGER(c.n)", "true"},
	{"IS_INTEGER(-9223372036854775808)", "true"},
	{"IS_INTEGER(18446744073709551615)", "false"},
	{"IS_INTEGER(c.s)", "false"},
	{"IS_INTEGER(2.5)", "false"},
	{"IS_FINITE_NUMBER(8.9 / 0.0)", "false"},
	{"IS_FINITE_NUMBER(SQRT(-1))", "false"},
	{"IS_DEFINED(c.z)", "true"},
	{"IS_DEFINED(c.none)", "false"},
}

func TestFunctions(t *testing.T) {
	tested := make(map[string]bool)
	for _, test := range functionTests {
		tested[strings.ToUpper(test.expression[:strings.IndexByte(test.expression, '(')])] = true
		if got := evaluate(t, test.expression, sample); got != test.want {
			t.Errorf("%s is %s, want %s", test.expression, got, test.want)
		}
	}
	for name := range functions {
		if !tested[name] && typeFunctions[name].fixed == nil {
			t.Errorf("function %s has no test", name)
		}
	}
}

func TestTypeFunctions(t *testing.T) {
	properties := []string{"c.none", "c.z", "c.t", "c.n", "c.s", "c.a", "c.o"}
	for name, want := range map[string]string{
		"IS_DEFINED": "0111111", "IS_NULL": "0100000", "IS_BOOL": "0010000", "IS_NUMBER": "0001000", "IS_STRING": "0000100",
		"IS_ARRAY": "0000010", "IS_OBJECT": "0000001", "IS_PRIMITIVE": "0111100", "IS_INTEGER": "0001000", "IS_FINITE_NUMBER": "0001000",
	} {
		for i, property := range properties {
			expected := strconv.FormatBool(want[i] == '1')
			if got := evaluate(t, name+"("+property+")", sample); got != expected {
				t.Errorf("%s(%s) is %s, want %s", name, property, got, expected)
			}
		}
	}
}

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
