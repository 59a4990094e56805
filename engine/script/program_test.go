package script_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"cosmosblog/engine/script"
)

func TestCompileAcceptsOneFunction(t *testing.T) {
	const set = `getContext().getResponse().setBody('ran')`
	bodies := map[string]string{
		"declaration":      `function f() { ` + set + ` }`,
		"anonymous":        `function () { ` + set + ` }`,
		"arrow":            `() => { ` + set + ` }`,
		"arrow expression": `a => ` + set,
		"async":            `async function f() { ` + set + ` }`,
		"byte order mark":  "\ufefffunction f() { " + set + " }",
		"semicolons":       `function () { ` + set + ` };;`,
		"comments":         "// before\n/* and */ function f() { " + set + " } // after\n/* end */",
		"comment after ;":  "() => { " + set + " }; // after",
		"nested functions": `function f() { g(); function g() { ` + set + ` } }`,
		"calls itself":     `function f(again) { if (again === undefined) return f(true); ` + set + ` }`,
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			equal(t, "body", execute(t, newMemory(t), body), `"ran"`)
		})
	}
}

func TestCompileRejectsOtherScripts(t *testing.T) {
	bodies := map[string]string{
		"nothing":         ``,
		"comment":         `// nothing`,
		"number":          `1`,
		"two functions":   `function f() {} function g() {}`,
		"called":          `(function () {})()`,
		"called directly": `function () {}()`,
		"statement after": `function f() {} f();`,
		"after semicolon": `function f() {}; f();`,
		"name used twice": `function f() { let a; let a; }`,
		"sequence":        `function () {}, function () {}`,
		"object":          `{a: 1}`,
		"unfinished":      `function f() {`,
		"two expressions": `1, function () {}`,
		"parser's panic":  "function(){ do `t${ function ?? [ ... class }",
		"too long":        "function () {" + strings.Repeat(" ", 256<<10) + "}",
		"source map":      "1 //# sourceMappingURL=/etc/passwd",
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			_, err := script.Compile("broken", body)
			var invalid *script.CompileError
			if !errors.As(err, &invalid) || invalid.Name != "broken" || invalid.Message == "" {
				t.Errorf("got %v, want a CompileError", err)
			}
		})
	}
}

func TestCompileIgnoresSourceMaps(t *testing.T) {
	compile(t, "function f() {}\n//# sourceMappingURL=does-not-exist.map")
}

func TestCompileErrorHasAPosition(t *testing.T) {
	_, err := script.Compile("broken", "function f() {\n  var var;\n}")
	if err == nil || !strings.Contains(err.Error(), "Line 2:7") {
		t.Errorf("got %v, want line 2, column 7", err)
	}
}

func TestArguments(t *testing.T) {
	p := compile(t, `function (a, b) { getContext().getResponse().setBody([arguments.length, typeof a, a, b]); }`)
	cases := map[string]string{
		``:                              `[0,"undefined",null,null]`,
		"  \n":                          `[0,"undefined",null,null]`,
		`null`:                          `[0,"undefined",null,null]`,
		`{}`:                            `[0,"undefined",null,null]`,
		`{"a":1}`:                       `[0,"undefined",null,null]`,
		`{"length":"2","0":1}`:          `[2,"number",1,null]`,
		`{"length":"x","0":1}`:          `[0,"undefined",null,null]`,
		`{"length":-1}`:                 `[0,"undefined",null,null]`,
		`[]`:                            `[0,"undefined",null,null]`,
		`["x",{"y":[1]}]`:               `[2,"string","x",{"y":[1]}]`,
		`[null]`:                        `[1,"object",null,null]`,
		`{"length":2,"0":"x","1":true}`: `[2,"string","x",true]`,
		`{"length":2,"1":7}`:            `[2,"undefined",null,7]`,
	}
	for arguments, want := range cases {
		r, err := p.Execute(t.Context(), newMemory(t), []byte(arguments), script.Options{})
		if err != nil {
			t.Errorf("%q: %v", arguments, err)
		}
		equal(t, arguments, string(r.Body), want)
	}
}

func TestInvalidArgumentsAreRejected(t *testing.T) {
	p := compile(t, `function () {}`)
	for _, arguments := range []string{`1`, `"x"`, `true`, `[1`, `{]`, `[] []`, `{"length":1e9}`} {
		_, err := p.Execute(t.Context(), newMemory(t), []byte(arguments), script.Options{})
		if invalid := (*script.ArgumentError)(nil); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v, want an ArgumentError", arguments, err)
		}
	}
}

func TestConcurrentExecutions(t *testing.T) {
	p := compile(t, `function (n) { this.seen = (this.seen || 0) + n; Array.prototype.mark = n; getContext().getResponse().setBody(seen); }`)
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			r, err := p.Execute(t.Context(), &memory{}, array(t, i), script.Options{})
			if err != nil {
				t.Error(err)
			}
			equal(t, "isolated globals", string(r.Body), string(array(t, i)[1:len(array(t, i))-1]))
		})
	}
	group.Wait()
}
