package syntax_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"cosmosblog/api/documents/syntax"
	"cosmosblog/blog"
	"cosmosblog/guard/limits"
	"cosmosblog/proof/testseed"
)

// valueOf returns the value of the only argument of the only field of a query.
func valueOf(t *testing.T, query string) *ast.Value {
	t.Helper()
	document, _, err := syntax.Parse(query, limits.Default())
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	return document.Operations[0].SelectionSet[0].(*ast.Field).Arguments[0].Value
}

// The values are those of the edition of September 2025: sections 2.1.1 (SourceCharacter is any
// Unicode scalar value), 2.9.1 and 2.9.2 (numbers), and 2.9.4 with its semantics (strings and block
// strings).
func TestValues(t *testing.T) {
	for literal, want := range map[string]string{
		`0`: "0", `-0`: "-0", `12`: "12", `1.5e-3`: "1.5e-3", `-1E+10`: "-1E+10",
		`""`: "", `"a b"`: "a b", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t",
		`"\u0041\u{1F600}\u{00000000000041}"`: "A😀A", `"\uD83D\uDE00"`: "😀", `"\u00e9é\u00E9"`: "ééé",
		"\"\x01\x7f\"": "\x01\x7f", "\"a\ufeff#b\"": "a\ufeff#b",
		`""""""`: "", `"""a"""`: "a", "\"\"\"\x01\"\"\"": "\x01", `"""a\n\u0041"""`: `a\n\u0041`, `"""a \""" b"""`: `a """ b`,
		"\"\"\"\n    Hello,\n      World!\n\n    Yours,\n      GraphQL.\n  \"\"\"": "Hello,\n  World!\n\nYours,\n  GraphQL.",
		"\"\"\"a\n    b\n  c\"\"\"":     "a\n  b\nc", // the first line has no indentation
		"\"\"\"  a\r\n  b\rc\n\"\"\"":   "  a\n  b\nc",
		"\"\"\"\n \t\n a\n  \n\"\"\"":   "a",
		"\"\"\"\n\tx\n\t\ty\n\tz\"\"\"": "x\n\ty\nz",
	} {
		if got := valueOf(t, "{a(b:"+literal+")}").Raw; got != want {
			t.Errorf("%s is %q, want %q", literal, got, want)
		}
	}
}

// The positions are where the grammar of the edition (appendix C) ends a document, or its section
// 2.9 forbids a number or a string.
func TestSyntaxErrors(t *testing.T) {
	for query, at := range map[string]string{
		"":                               "1:1", // no operation; package documents rejects it
		"{":                              "1:2",
		"{}":                             "1:2",
		"{a b:}":                         "1:6",
		"query {a} {":                    "1:12",
		"{a(b:1a)}":                      "1:7",
		"{a(b:01)}":                      "1:6",
		"{a(b:-)}":                       "1:7",
		"{a(b:1.)}":                      "1:8",
		"{a(b:.5)}":                      "1:6",
		"{a(b:1.5.2)}":                   "1:9",
		"{a(b:0xF)}":                     "1:7",
		"{a(b:1e)}":                      "1:8",
		"{a(b:)}":                        "1:6",
		"{a()}":                          "1:4",
		"{é(b:1)}":                       "1:2",
		`{a(b:"é` + "\n" + `")}`:         "1:8",
		`{a(b:"\uD83D")}`:                "1:7",
		`{a(b:"\uDE00\uD83D")}`:          "1:7",
		`{a(b:"\uD83D\u{DE00}")}`:        "1:7",
		`{a(b:"\u{110000}")}`:            "1:7",
		`{a(b:"\u{FFFFFFFFFFFFFFFFF}")}`: "1:7",
		`{a(b:"\u{}")}`:                  "1:7",
		`{a(b:"\u00G0")}`:                "1:7",
		`{a(b:"\x41")}`:                  "1:7",
		`{a(b:"""a"""")}`:                "1:16", // the block string ends with the first three quotes
		"query($a:Int=$b){a}":            "1:14",
		"query($a:Int@b(c:$d)){a}":       "1:18",
		"query(){a}":                     "1:7",
		"fragment on on A{a}":            "1:10",
		"fragment f($a:Int) on A{a}":     "1:11",
		`"description" {a}`:              "1:15",
		"type A{a:Int}":                  "1:1",
		"{a(b:{c:1 d})}":                 "1:12",
		"\ufeff {a} # \x01\x02\r\n\n }":  "3:2",
		"{a(b:\"\"\"\n\n\"\"\" c:\x01)}": "3:7",
		"{a @b(c:\x7f)}":                 "1:9",
		"{a ..b}":                        "1:4",
	} {
		document, _, err := syntax.Parse(query, limits.Default())
		if query == "" {
			if err != nil || len(document.Operations) != 0 {
				t.Errorf("the empty query: %v", err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%q has no error", query)
			continue
		}
		got := fmt.Sprintf("%d:%d", err.Locations[0].Line, err.Locations[0].Column)
		if got != at || blog.CodeOf(err.Err) != blog.GraphQLParseFailed {
			t.Errorf("%q: %v at %s, want %s", query, err.Err, got, at)
		}
	}
}

// Descriptions are a part of operations, fragments and variables since the edition of September
// 2025 (section 2.3).
func TestDescriptions(t *testing.T) {
	_, _, err := syntax.Parse(`"an operation" query A("""a variable""" $b: Int) {...C} "a fragment" fragment C on D {e}`, limits.Default())
	if err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	l := limits.Default()
	l.Tokens, l.QueryBytes = 10, 2000
	for query, isAllowed := range map[string]bool{
		"{a b c d e f g h}":                       true,
		"{a b c d e f g h} # a comment, , ,":      true,
		"{a b c d e f g h i}":                     false,
		"{" + strings.Repeat("a", 200) + "}":      true,
		"{" + strings.Repeat("a", 201) + "}":      false,
		"{a(b:" + strings.Repeat("1", 201) + ")}": false,
		"{a(b:[[[[]]]])}":                         false, // of tokens
		"{a(b:[[[[[":                              false,
		"{a}" + strings.Repeat(" ", 2000):         false,
		"{a}" + strings.Repeat(" ", 1997):         true,
	} {
		_, _, err := syntax.Parse(query, l)
		if (err == nil) != isAllowed || err != nil && blog.CodeOf(err.Err) != blog.LimitExceeded {
			t.Errorf("%.40s: %v", query, err)
		}
	}
	for query, isAllowed := range map[string]bool{
		"{a(b:[[[[]]]])}": true, "{a(b:[[[[[]]]]])}": false, "{a(b:{c:{d:[{e:1}]}})}": true, "query($a:[[[[[Int]]]]]){a}": false,
		"{a(b:[[]] c:[[[]]])}": true, strings.Repeat("{a", 300) + strings.Repeat("}", 300): true,
	} {
		if _, _, err := syntax.Parse(query, limits.Default()); (err == nil) != isAllowed {
			t.Errorf("%.40s: %v", query, err)
		}
	}
	if _, _, err := syntax.Parse("{a}"+strings.Repeat("\r", 50_001), limits.Default()); err == nil || blog.CodeOf(err.Err) != blog.LimitExceeded {
		t.Errorf("many lines: %v", err)
	}
}

// The tree is the one of gqlparser, for documents that both parse alike: the examples of the
// repository's pages and tests, and random changes of them.
func TestTreeIsThatOfGqlparser(t *testing.T) {
	random := rand.New(rand.NewPCG(testseed.Of(t), 0))
	examples := []string{
		`query A($a: [ID!]! = ["x"] @b, $c: C = {d: 1.5, e: [true, null, F]}) @g(h: "i") { j: k(l: $a, m: """n""") @skip(if: $c) { ...o ... on P { q } ... @r { s } } }
		fragment o on T @u { v } mutation { w } subscription X { y }`,
	}
	for _, file := range []string{"../../../web/app/src/parts/post-page.graphql", "../../../proof/conformance/clients/documents.graphql"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples = append(examples, string(text))
	}
	parts := strings.Fields(`{ } ( ) [ ] : = ! $ @ ... a on fragment query true null 1 -2.5e1 "s" """b""" , # \n`)
	valid := 0
	for n := range 2000 {
		query := examples[n%len(examples)]
		for range n % 3 {
			from := random.IntN(len(query))
			query = query[:from] + " " + parts[random.IntN(len(parts))] + " " + query[min(len(query), from+random.IntN(3)):]
		}
		want, wantErr := parser.ParseQuery(&ast.Source{Input: query})
		got, _, err := syntax.Parse(query, limits.Default())
		if (err == nil) != (wantErr == nil) {
			t.Errorf("only one of both parses %q: %v, %v", query, err, wantErr)
		}
		if err != nil || wantErr != nil {
			continue
		}
		valid++
		if got, want := textOf(got), textOf(want); got != want {
			t.Fatalf("%q is\n%s\nfor gqlparser\n%s", query, got, want)
		}
	}
	if valid < 100 {
		t.Errorf("%d documents were valid", valid)
	}
}

// textOf returns a document in gqlparser's form, without its descriptions.
func textOf(document *ast.QueryDocument) string {
	for _, operation := range document.Operations {
		operation.Description = ""
		for _, variable := range operation.VariableDefinitions {
			variable.Description = ""
		}
	}
	for _, fragment := range document.Fragments {
		fragment.Description = ""
	}
	var text strings.Builder
	formatter.NewFormatter(&text).FormatQueryDocument(document)
	return text.String()
}
