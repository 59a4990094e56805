//go:build ci

package graphqljs_test

import (
	"fmt"
	"regexp"
	"strings"
)

// wrongRequest changes what is sent beside the document.
func (g *generator) wrongRequest(t *tree) string {
	switch g.IntN(5) {
	case 0:
		name := pick(g, "Unknown", "", "query", "Q0")
		t.name = &name
		return "operationName"
	case 1:
		if len(t.operations) > 1 {
			t.name = nil
		}
		return "no operationName"
	case 2:
		t.more = append(t.more, pick(g, `"undeclared":1`, `"undeclared":1e400`, `"undeclared":{"a":[null]}`, `"":1`, `"$v0":1`))
		return "undeclared variable"
	case 3:
		for _, o := range t.operations {
			for _, v := range o.variables {
				if g.oneIn(2) {
					v.value = g.wildJSON()
				}
			}
		}
		return "wrong variable"
	}
	for _, o := range t.operations {
		for _, v := range o.variables {
			if g.oneIn(2) {
				v.value = pick(g, "", "null")
			}
		}
	}
	return "missing variable"
}

var token = regexp.MustCompile(`"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|\.\.\.|[A-Za-z_][A-Za-z_0-9]*|-?[0-9][0-9.eE+-]*|[!$&():=@\[\]{|}]|#[^\n]*`)

// wrongSyntax changes the text of a document, and returns what it did.
func (g *generator) wrongSyntax(d *document) string {
	places := token.FindAllStringIndex(d.Query, -1)
	p := places[g.IntN(len(places))]
	before, text, after := d.Query[:p[0]], d.Query[p[0]:p[1]], d.Query[p[1]:]
	control := string(rune(pick(g, 0, 1, 7, 8, 0xb, 0xc, 0x1f, 0x7f, 0x80, 0x9f, 0xa0, 0x2028, 0xfeff, 0xfffe, 0xffff, 0x1fffe)))
	switch g.IntN(9) {
	case 0:
		d.Query = before + after
		return "no " + text
	case 1:
		d.Query = before + text + " " + text + after
		return "twice " + text
	case 2:
		other := places[g.IntN(len(places))]
		d.Query = before + d.Query[other[0]:other[1]] + " " + after
		return "other token"
	case 3:
		punctuation := pick(g, "!", "$", "&", "(", ")", "...", ":", "=", "@", "[", "]", "{", "|", "}", ".", "..", "?", "%", "'", "\\", "~", "é", "\U0001F600", "-", "+", "/", "<", ";", "`", "^", "*")
		d.Query = before + pick(g, punctuation+" "+text, text+" "+punctuation, text+punctuation) + after
		return "punctuation " + punctuation
	case 4: // white space and control characters
		d.Query = before + text + control + after
		return fmt.Sprintf("character %U", []rune(control)[0])
	case 5:
		d.Query = before + pick(g, "# a"+control+"b\n", "#"+control+"\r", "# no end of line ", "#\n#\r\n") + text + after
		return fmt.Sprintf("comment with %U", []rune(control)[0])
	}
	value := g.oddValue(control)
	root := pick(g, `tag(name: %s) { name }`, `tags(first: %s) { __typename }`, `node(id: %s) { id }`, `archive(month: %s) { month }`)
	d.Kind, d.OperationName, d.Variables, d.Echoes = "query", nil, "", false
	d.Query = "{ " + fmt.Sprintf(root, value) + " }"
	if g.oneIn(3) { // the answer has what the server took for the value
		d.Kind, d.Echoes = "mutation", true
		d.Query = fmt.Sprintf(`mutation { createPost(input: {title: "t", content: %s}) { post { content contentLength } } }`, value)
	}
	return "value " + value
}

// oddValue is a literal, or nearly one.
func (g *generator) oddValue(control string) string {
	several := func(most int, parts ...string) string {
		var b strings.Builder
		for range g.IntN(most + 1) {
			b.WriteString(pick(g, parts...))
		}
		return b.String()
	}
	switch g.IntN(6) {
	case 0:
		return `"""` + several(12, " ", "  ", "\t", "\n", "\n", "\n  ", "\r\n", "\r", "a", "b", "\n    c", `\"""`, `\`, `"`, `\n`, "é", "\u00a0", "\u2028", "\U0001F600") + `"""`
	case 1:
		return `"` + several(6, "a", "é", "\U0001F600", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u{41}`, `\u{1F600}`, `\uD83D\uDE00`, `\uD83D`, `\uDE00`, `\u{D83D}`, `\u{0}`, `\u0000`, `\u{110000}`, `\u{00000000041}`, `\u12`, `\U0041`, "\t", "#", "'") + `"`
	case 2:
		return several(4, "-", "0", "1", "9", "00", ".", "e", "E", "+", "5", "2147483647", "x", "_")
	}
	return pick(g,
		"00", "01", "-01", "-0", "0", "1.", ".5", "-.5", "0xF", "1a", "1_000", "1e", "1e+", "1.0e5", "1.e5", "1.0.0", "+1", "--1", "1e5f", "0.0", "0e0", "5.x", "1\"a\"", "1{", "1$x", "-", "1...", "1e1.5", "3 000",
		`"a`+control+`b"`, `"""a`+control+`b"""`, `"""`+control+`"""`, `"go" "go"`, `"""go""""""go"""`,
		`"\u{67}o"`, `"\u{1F600}"`, `"\u{}"`, `"\u{110000}"`, `"\u{10FFFF}"`, `"\u{D800}"`, `"\u{D83D}\u{DE00}"`, `"\u{000000000067}o"`, `"\u{67"`, `"\u{g}"`, `"\u{ 67}"`,
		`"\uD83D\uDE00"`, `"\uD83D"`, `"\uDE00"`, `"\uDE00\uD83D"`, `"\uD83Dx"`, `"\u00"`, `"\u00zz"`, `"\U0001"`, `"\a"`, `"\v"`, `"\'"`, `"\x41"`, `"\b\f\n\r\t\/\\\""`, `"\`, `"\"`,
		`"a`, "\"a\nb\"", "\"a\rb\"", "\"\"\"a", `"""a\"""b"""`, `"""\"""`, `"""\n"""`, `"""\u0067o"""`, `"""go"""`, "\"\"\"\n  go\n\"\"\"", "\"\"\"\n    go\n  \"\"\"", "\"\"\"go\n\"\"\"", "\"\"\"\r\n\tgo\r\"\"\"",
		"\"\"\"\n\n  a\n\n    b\n c\n\n\"\"\"", "\"\"\"a\n  b\n   c\"\"\"", "\"\"\"\n\ta\n  b\"\"\"", "\"\"\"  a  \"\"\"", "\"\"\"\n\u00a0a\"\"\"", "\"\"\"\u2028a\n b\"\"\"", `""""""`, `"" ""`, `"""a""`, `"""a""""`,
		"'go'", "`go`", "$", "$x", "@x", "null", "true", "True", "go", "é", "_", "__x", "[", "[]", "[1 2]", "[1,,2,]", "{", "{}", "{a:1 b:2}", "{a:1,,b:2,}", "{a}", "{:1}", "{1:1}", "{\"a\":1}", "...", "#x\n1", "-1", "- 1", "-a",
		"\"\U0001F600\"", "\"é\"", "\"\u0085\"", "\"\"\"\u0085a\n b\"\"\"")
}
