package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
)

// laterNames are properties and globals that are newer than ECMAScript 2015. A string may have
// includes, but an array may not, and the syntax does not tell which one it is.
var laterNames = []string{
	"includes", "values", "entries", "getOwnPropertyDescriptors", "fromEntries", "hasOwn", "groupBy",
	"padStart", "padEnd", "trimStart", "trimEnd", "matchAll", "replaceAll", "at", "flat", "flatMap",
	"findLast", "findLastIndex", "toSorted", "toReversed", "toSpliced", "finally", "allSettled", "any",
	"globalThis", "BigInt", "Atomics", "SharedArrayBuffer", "WeakRef", "structuredClone",
}

var laterOperators = []token.Token{token.EXPONENT, token.COALESCE}

// TestScriptsAreES6 checks that scripts use nothing later than ECMAScript 2015, which is what
// Microsoft promises ("JavaScript query API": the server implements ECMAScript 2015). The engine
// executes later editions.
func TestScriptsAreES6(t *testing.T) {
	files, err := filepath.Glob("../../store/schema/js/*.js")
	more, err2 := filepath.Glob("../../bench/models/v3/*.js")
	files = append(files, more...)
	if err != nil || err2 != nil || len(files) < 10 {
		t.Fatalf("found the scripts %q: %v, %v", files, err, err2)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := laterThanES6(string(text))
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v %v", filepath.Base(file), found, err)
		}
	}
}

// TestLaterThanES6 checks that the check above finds what it must.
func TestLaterThanES6(t *testing.T) {
	for _, text := range []string{
		"a.includes(1)", "a['includes'](1)", "Object.values(a)", "2 ** 3", "a **= 2", "a ?? b", "a ??= b", "a?.b", "a?.[0]",
		"async function f() {}", "async () => {}", "({ ...a })", "let { b, ...c } = a", "try { a() } catch { b() }",
		"class A { b = 1 }", "class A { #b() {} }", "class A { static {} }", "globalThis.a", "a ||= b", "a &&= b", "1_000", "10n",
	} {
		if found, err := laterThanES6(text); err == nil && len(found) == 0 {
			t.Errorf("%s passes", text)
		}
	}
	const allowed = "class A extends B { constructor(...a) { super(...a) } }; for (const [a, b = 1] of c) { `${a}`; (x) => ({ x, [b]: 1 }) } a || b"
	if found, err := laterThanES6(allowed); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}

// laterThanES6 returns what a script uses that is newer than ECMAScript 2015. Error: the parser's,
// which knows no later edition than goja.
func laterThanES6(text string) (found []string, err error) {
	program, err := parser.ParseFile(nil, "", text, 0)
	if err != nil {
		return nil, err
	}
	walk(reflect.ValueOf(program.Body), func(node any) {
		if later := laterNode(node); later != "" {
			found = append(found, later)
		}
	})
	return found, nil
}

func laterNode(node any) string {
	switch n := node.(type) {
	case ast.Optional, ast.OptionalChain:
		return "?."
	case ast.AwaitExpression, ast.PrivateDotExpression, ast.PrivateIdentifier, ast.FieldDefinition, ast.ClassStaticBlock:
		return fmt.Sprintf("%T", n)
	case ast.FunctionLiteral:
		if n.Async {
			return "async"
		}
	case ast.ArrowFunctionLiteral:
		if n.Async {
			return "async"
		}
	case ast.BinaryExpression:
		if slices.Contains(laterOperators, n.Operator) {
			return n.Operator.String()
		}
	case ast.AssignExpression: // of +=, the operator is +
		if slices.Contains(append(laterOperators, token.LOGICAL_AND, token.LOGICAL_OR), n.Operator) {
			return n.Operator.String() + "="
		}
	case ast.ObjectLiteral:
		for _, property := range n.Value {
			if _, ok := property.(*ast.SpreadElement); ok {
				return "an object with ..."
			}
		}
	case ast.ObjectPattern:
		if n.Rest != nil {
			return "a pattern with ..."
		}
	case ast.CatchStatement:
		if n.Parameter == nil {
			return "catch without a parameter"
		}
	case ast.NumberLiteral:
		if slices.ContainsFunc([]rune(n.Literal), func(c rune) bool { return c == '_' || c == 'n' }) {
			return n.Literal
		}
	case ast.Identifier:
		return laterName(string(n.Name))
	case ast.BracketExpression:
		if name, ok := n.Member.(*ast.StringLiteral); ok {
			return laterName(string(name.Value))
		}
	}
	return ""
}

func laterName(name string) string {
	if slices.Contains(laterNames, name) {
		return name
	}
	return ""
}

// walk calls visit for each struct below a value of the syntax tree.
func walk(v reflect.Value, visit func(node any)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*ast.Program]() {
			walk(v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Struct:
		visit(v.Interface())
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "DeclarationList" && v.Type().Field(i).Name != "File" {
				walk(v.Field(i), visit)
			}
		}
	}
}
