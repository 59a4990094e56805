package script_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cosmosblog/engine/script"
	"cosmosblog/proof/testseed"
)

// TestDocumentsAreOrdinaryObjects compares random scripts with the same scripts that get ordinary
// objects: what they read, what they throw, and which items they write.
func TestDocumentsAreOrdinaryObjects(t *testing.T) {
	names := []string{`"x"`, `"y"`, `"10"`, `"2"`, `"01"`, `"-1"`, `"4294967294"`, `"4294967295"`, `"1.5"`, `""`, `"é"`, `"id"`, `"list"`,
		`"part"`, `"length"`, `"toString"`}
	values := []string{"1", "-0", "'s'", "String.fromCharCode(55296)", "null", "undefined", "true", "[]", "[1, undefined, a]", "{}", "{y: 1, 3: 2}", "a", "d", "a.part", "d.list", "function () {}", "new Date(0)"}
	targets := []string{"a", "d", "e", "a.part", "d.part", "d.part.part", "d.list[0]", "a.x", "d.ten"}
	statements := []string{
		"T[N] = V", "T[N] = V", "delete T[N]", "delete T[N]", "T[N]++", "T[N] += 'z'", "T[N].push(V)", "T[N][N] = V",
		"say(T[N])", "say(N in T)", "say(T)", "say(T === T)", "say(T[N] === T[N])", "say(V === T[N])", "say({...T, q: 1})",
		"var {x, ...rest} = T; say([x, rest])", "say(T.hasOwnProperty(N), T.propertyIsEnumerable(N))", "say(String(T), typeof T)",
		"for (var k in T) { say(k); if (k == N) delete T[k]; else if (N in T) T.fresh = 1 }",
		"for (var k in T) say(k, T[k])", "say([].concat(T), Array.isArray(T), Array.from(T))", "say(T.isPrototypeOf(a), T.valueOf() === T)",
		"with (T) { x = 5; say(typeof y) }", "switch (T) { case T: say('same') }", "say(T == V, T > V)", "say(new Map([[T, 1]]).get(T))",
		"r.setBody(T)", "r.setBody([T, V])", "c.upsertDocument(link, T, function (e, i, o) { say(e, i, o); if (i) i[N] = V; a.last = i })",
		"c.replaceDocument(doc('d'), T, function (e, i, o) { say(e, i, o) })", "c.readDocument(doc(T[N]), T, function (e, i) { say(e, i) })",
	}
	testseed.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 14).Draw(rt, "statements") {
			statement := rapid.SampledFrom(statements).Draw(rt, "statement")
			for _, p := range []struct {
				letter string
				texts  []string
			}{{"T", targets}, {"V", values}, {"N", names}} {
				for at := placeholder(statement, p.letter); at >= 0; at = placeholder(statement, p.letter) {
					statement = statement[:at] + rapid.SampledFrom(p.texts).Draw(rt, p.letter) + statement[at+1:]
				}
			}
			fmt.Fprintf(&b, "try { %s } catch (e) { say('thrown ' + e.name) }\n", statement)
		}
		body := `function (a) {
			var c = getContext().getCollection(), r = getContext().getResponse(), link = c.getAltLink(), said = [];
			function doc(id) { return link + '/docs/' + id }
			function say() {
				for (var i = 0; i < arguments.length; i++) {
					try { said.push(JSON.stringify(arguments[i])) } catch (e) { said.push('unsayable ' + e) }
				}
			}
			c.readDocument(doc('d'), function (err, d) {
				c.readDocument(doc('d'), function (err, e) {
					` + b.String() + `
					c.readDocuments(link, function (err, all) { say(all); r.setBody({said: said, a: a.x, all: all.concat([d.part, e])}) });
				});
			});
		}`
		compareDocuments(rt, t, body)
	})
}

// placeholder returns the first position of a capital letter that is a word of a statement, or -1.
func placeholder(statement, letter string) int {
	at := regexp.MustCompile(`\b` + letter + `\b`).FindStringIndex(statement)
	if at == nil {
		return -1
	}
	return at[0]
}

func compareDocuments(rt *rapid.T, t *testing.T, body string) {
	item := `{"id":"d","x":1,"ten":{"y":[1]},"é":"ü","list":[{"x":1},2,"3"],"part":{"y":2,"part":{"z":null},"2":1,"1":2},"text":"line\n"}`
	if rapid.Bool().Draw(rt, "without indexes") {
		item = strings.Replace(item, `"2":1,"1":2`, `"b":1,"a":2`, 1)
	}
	argument := map[string]any{"x": "a", "part": map[string]any{"x": []any{1, map[string]any{}}, "b": nil}, "1.5": 2, "id": "new"}
	run := func(body string) (string, *memory) {
		m := newMemory(t, item)
		m.items["d"] = parsed(item) // as the engine parses items
		result, err := try(t, m, script.Options{}, body, argument)
		return fmt.Sprintf("%s %v", result.Body, err), m
	}
	got, m := run(body)
	want, ordinary := run(withOrdinaryObjects(body))
	if got != want {
		rt.Fatalf("%s\ngot  %s\nwant %s", body, got, want)
	}
	if got, want := strings.Join(m.calls, "\n"), strings.Join(ordinary.calls, "\n"); got != want {
		rt.Fatalf("%s\ncalls\n%s\nwant\n%s", body, got, want)
	}
}

// TestOrdinaryObjects executes scripts that may do with an item what documents do not support.
func TestOrdinaryObjects(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"freeze":          {`Object.freeze(a); a.n = 2; r.setBody([a.n, Object.isFrozen(a)])`, `[1,true]`},
		"accessor":        {`Object.defineProperty(a, 'n', {get: function () { return 7 }}); r.setBody(a.n)`, `7`},
		"escaped name":    {`\u004fbject.freeze(a); a.n = 2; r.setBody(a.n)`, `1`},
		"symbol":          {`a[Symbol.iterator] = function* () { yield 5 }; r.setBody([...a])`, `[5]`},
		"prototype":       {`var b = {m: 3}; a.__proto__ = b; r.setBody(a.m)`, `3`},
		"cyclic":          {`try { a.__proto__ = a } catch (e) { r.setBody(e.name) }`, `"TypeError"`},
		"toJSON of array": {`Array.prototype.toJSON = function () { return 'list' }; r.setBody(a)`, `{"n":1,"list":"list"}`},
		"many properties": {`for (var i = 0; i < 70; i++) a['p' + i] = i; r.setBody([a.p69, a.n])`, `[69,1]`},
	} {
		t.Run(name, func(t *testing.T) {
			got := execute(t, newMemory(t), `function (a) { var r = getContext().getResponse(); `+c.script+` }`,
				map[string]any{"n": 1, "list": []int{}})
			if name == "toJSON of array" {
				got = strings.Replace(got, `{"list":"list","n":1}`, `{"n":1,"list":"list"}`, 1) // json.Marshal sorts
			}
			equal(t, "response", got, c.want)
		})
	}
}
