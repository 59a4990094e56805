//go:build ci

package graphqljs_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// value writes a value of a type as a literal, or as a variable whose value or default it is. A
// wild generator sometimes writes something else instead.
func (g *generator) value(value any, of *ast.Type) string {
	if !g.oneIn(3) {
		return g.literal(value, of)
	}
	kind := of.String()
	if !of.NonNull && value != nil && g.oneIn(4) {
		kind += "!"
	}
	if g.isWild && g.oneIn(5) {
		kind = pick(g, "Int", "String", "ID", "ID!", "[ID!]", "[ID]", "[[ID!]!]!", "Boolean", "Float", "CommentOrder", "Int!", "DateTime", "CreatePostInput", "Post", "Unknown", kind+"!", "["+kind+"]")
	}
	switch g.IntN(6) {
	case 0: // a default
		if of.NonNull && g.oneIn(2) {
			kind = strings.TrimSuffix(kind, "!") // a nullable variable with a default may stand here
		}
		given := ""
		if g.isWild && g.oneIn(3) {
			given = pick(g, "null", g.wildJSON())
		}
		return g.variable(kind, g.constant(value, of), given)
	case 1: // a default that is replaced
		return g.variable(kind, g.constant(value, of), g.json(value, of))
	case 2:
		if !of.NonNull && value == nil {
			return g.variable(kind, "", "") // missing
		}
	}
	return g.variable(kind, "", g.json(value, of))
}

// constant is a literal without variables.
func (g *generator) constant(value any, of *ast.Type) string {
	if g.isWild && g.oneIn(6) {
		return g.wildLiteral(false)
	}
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return g.quote(value)
	case int:
		return strconv.Itoa(value)
	case enum:
		return string(value)
	case bool:
		return strconv.FormatBool(value)
	case []any:
		var list []string
		for _, element := range value {
			list = append(list, g.constant(element, of.Elem))
		}
		if len(list) == 1 && g.oneIn(3) {
			return list[0]
		}
		return "[" + strings.Join(list, pick(g, " ", ", ")) + "]"
	case []member:
		var list []string
		for _, m := range value {
			list = append(list, m.name+": "+g.constant(m.value, g.typeOf(of, m)))
		}
		return "{" + strings.Join(list, pick(g, " ", ", ")) + "}"
	}
	panic(fmt.Sprintf("%T", value))
}

// typeOf returns the type of a member of an input object.
func (g *generator) typeOf(of *ast.Type, m member) *ast.Type {
	if field := g.schema.Types[of.Name()].Fields.ForName(m.name); field != nil {
		return field.Type
	}
	return of
}

// literal is a literal whose parts may be variables.
func (g *generator) literal(value any, of *ast.Type) string {
	if g.isWild && g.oneIn(6) {
		return g.wildLiteral(true)
	}
	switch value := value.(type) {
	case []any:
		var list []string
		for _, element := range value {
			list = append(list, g.value(element, of.Elem))
		}
		if len(list) == 1 && g.oneIn(3) && !strings.HasPrefix(list[0], "$") {
			return list[0]
		}
		return "[" + strings.Join(list, ",") + "]"
	case []member:
		var list []string
		for _, m := range value {
			list = append(list, m.name+":"+g.value(m.value, g.typeOf(of, m)))
		}
		if g.isWild && g.oneIn(6) {
			list = append(list, pick(g, "unknown: 1", "title: null", "id: 5", `title: "again"`))
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	return g.constant(value, of)
}

// json is a JSON value of a variable.
func (g *generator) json(value any, of *ast.Type) string {
	if g.isWild && g.oneIn(4) {
		return g.wildJSON()
	}
	switch value := value.(type) {
	case nil:
		return "null"
	case string, enum:
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return string(text)
	case bool:
		return strconv.FormatBool(value)
	case int:
		text := strconv.Itoa(value)
		if of.Name() == "ID" {
			return pick(g, text, `"`+text+`"`)
		}
		return pick(g, text, text, text+".0", text+"e0", text+"0e-1", text+".00E+0")
	case []any:
		var list []string
		for _, element := range value {
			list = append(list, g.json(element, of.Elem))
		}
		if len(list) == 1 && list[0] != "null" && g.oneIn(3) {
			return list[0]
		}
		return "[" + strings.Join(list, ",") + "]"
	case []member:
		var list []string
		for _, m := range value {
			list = append(list, fmt.Sprintf("%q:%s", m.name, g.json(m.value, g.typeOf(of, m))))
		}
		if g.isWild && g.oneIn(6) {
			list = append(list, pick(g, `"unknown":1`, `"unknown":null`, `"__typename":"X"`))
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	panic(fmt.Sprintf("%T", value))
}

// wildLiteral is a literal of any type.
func (g *generator) wildLiteral(mayUse bool) string {
	if mayUse && g.oneIn(8) {
		return "$unknown"
	}
	return pick(g, "null", "1", "-1", "0", "-0", "1.0", "1e0", "1.5", "3000000000", "-3000000000", "2147483648", "1e400", "99999999999999999999",
		`"x"`, `"1"`, `""`, `"NEWEST_FIRST"`, `"""block"""`, "true", "false", "NEWEST_FIRST", "OLDEST_FIRST", "UNKNOWN_VALUE", "[]", "[1]", `["x"]`, "[null]", "[[1]]",
		"{}", `{id: "x"}`, `{title: "t", content: "c"}`, `{title: "t", content: "c", unknown: 1}`, "{a: {b: [1]}}", `"é\u00e9\u{1F600}\uD83D\uDE00"`)
}

// wildJSON is a JSON value of any type. It is never a number like 1.0: graphql-js takes that for an
// ID, because JavaScript cannot tell it from 1, and section 3.5.5 refuses it.
func (g *generator) wildJSON() string {
	return pick(g, "null", "1", "-1", "0", "-0", "1.5", "3000000000", "-3000000000", "2147483647", "2147483648", "-2147483648", "-2147483649", "1e400", "99999999999999999999",
		`"x"`, `"1"`, `""`, `"NEWEST_FIRST"`, `"UNKNOWN"`, `"true"`, "true", "false", "[]", "[1]", `["x"]`, "[null]", "[[1]]", `[["x"]]`, "{}",
		`{"id":"x"}`, `{"title":"t","content":"c"}`, `{"title":"t","content":"c","unknown":1}`, `{"title":"t"}`, `{"title":null,"content":"c"}`, `{"title":1,"content":"c"}`, `{"title":"t","content":"c","tags":"go"}`, `{"title":"t","content":"c","tags":["go",null]}`)
}

// quote writes a text as a string or, if that is possible, as a block string.
func (g *generator) quote(text string) string {
	isPlain := !strings.ContainsAny(text, "\\\"\n\t") && strings.TrimSpace(text) == text && text != ""
	switch {
	case isPlain && g.oneIn(6):
		return pick(g, `"""`+text+`"""`, "\"\"\"\n    "+text+"\n  \"\"\"", "\"\"\"\n\n\t"+text+"\r\n\r\n\"\"\"")
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(pick(g, `\n`, `\u000a`, `\u{A}`))
		case r == '\t':
			b.WriteString(pick(g, `\t`, "\t", `\u0009`))
		case r > 0xffff && g.oneIn(2):
			b.WriteString(pick(g, fmt.Sprintf(`\u{%X}`, r), fmt.Sprintf(`\u{00%x}`, r), fmt.Sprintf(`\u%04X\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)))
		case r < 0x10000 && g.oneIn(8):
			b.WriteString(pick(g, fmt.Sprintf(`\u%04X`, r), fmt.Sprintf(`\u%04x`, r), fmt.Sprintf(`\u{%x}`, r)))
		case r == '/' && g.oneIn(2):
			b.WriteString(`\/`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
