package script_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
	"cosmosblog/proof/testseed"
)

func TestResponseBody(t *testing.T) {
	cases := map[string]struct{ script, want string }{
		"none set":               {``, `""`},
		"undefined":              {`r.setBody(undefined)`, `""`},
		"undefined later":        {`r.setBody(1); r.setBody()`, `""`},
		"null":                   {`r.setBody(null)`, `null`},
		"function":               {`r.setBody(function () {})`, `""`},
		"string":                 {`r.setBody('a"b')`, `"a\"b"`},
		"number":                 {`r.setBody(1.5)`, `1.5`},
		"NaN":                    {`r.setBody(undefined + 1)`, `null`},
		"false":                  {`r.setBody(false)`, `false`},
		"array":                  {`r.setBody([1, undefined, function () {}, , 'x'])`, `[1,null,null,null,"x"]`},
		"object":                 {`r.setBody({b: 1, a: undefined, f: function () {}, c: {}})`, `{"b":1,"c":{}}`},
		"first property missing": {`r.setBody({a: undefined, b: 1})`, `{"b":1}`},
		"date":                   {`r.setBody(new Date(0))`, `"1970-01-01T00:00:00.000Z"`},
		"toJSON":                 {`r.setBody({k: {toJSON: function (key) { return key + '!' }}})`, `{"k":"k!"}`},
		"wrappers":               {`r.setBody([new Number(1), new String('s'), new Boolean(false)])`, `[1,"s",false]`},
		"getter":                 {`r.setBody({get a() { return 2 }})`, `{"a":2}`},
		"inherited and hidden":   {`var o = Object.create({a: 1}); Object.defineProperty(o, 'b', {value: 1}); r.setBody(o)`, `{}`},
		"same object twice":      {`var o = {}; r.setBody([o, o])`, `[{},{}]`},
		"changed later":          {`var o = {n: 1}; r.setBody(o); o.n = 2; o.m = [3]`, `{"n":2,"m":[3]}`},
		"JSON replaced":          {`JSON = null; r.setBody({a: 1})`, `{"a":1}`},
		"appended":               {`r.appendBody('a'); r.appendBody('b'); r.appendBody(1)`, `"ab1"`},
		"appended to null":       {`r.setBody(null); r.appendBody({a: 1})`, `{"a":1}`},
		"appended number":        {`r.setBody(1); r.appendBody(2)`, `3`},
		"setValue":               {`r.setValue('Body', {a: r.getValue('body')})`, `{"a":""}`},
		"appendValue":            {`r.appendValue('body', 'x'); r.appendValue('Body', 'y')`, `"xy"`},
		"shortcut":               {`__.response.setBody(__.response === r)`, `true`},
		"getBody is stable":      {`r.setBody({}); r.getBody().a = 1`, `{"a":1}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			equal(t, "body", execute(t, newMemory(t), `function () { var r = getContext().getResponse(); `+c.script+` }`), c.want)
		})
	}
}

func TestMessagesOfAProcedure(t *testing.T) {
	m := newMemory(t)
	equal(t, "request", execute(t, m, `function () {
		var q = getContext().getRequest();
		getContext().getResponse().setBody([q.getBody(), typeof q.setBody, typeof q.getOperationType, q === __.request]);
	}`, 1, "x"), `[[1,"x"],"undefined","undefined",true]`)
	for body, want := range map[string]string{
		`__.response.setValue('x-other', 1)`:       "400 Error: Cannot set new values: x-other",
		`__.response.setValue('operationType', 1)`: "403 Error: Not a writable property: operationType",
		`__.response.getValue('x-other')`:          "400 Error: No such value: x-other",
		`__.request.setBody(1)`:                    "undefined TypeError: Object has no member 'setBody'",
	} {
		equal(t, body, execute(t, m, `function () { try { `+body+` } catch (e) { __.response.setBody(e.number + ' ' + e) } }`), `"`+want+`"`)
	}
}

func TestBodyTooLarge(t *testing.T) {
	o := script.Options{MaxBody: 20}
	cases := map[string]struct {
		script string
		body   string // "": too large
	}{
		"at the limit":          {`r.setBody('123456789012345678')`, `"123456789012345678"`},
		"above the limit":       {`r.setBody('1234567890123456789')`, ``},
		"bytes, not letters":    {`r.setBody('äääääääääää')`, ``},
		"caught":                {`try { r.setBody('1234567890123456789') } catch (e) { r.setBody(e instanceof Error && e.number) }`, `413`},
		"old body is kept":      {`r.setBody(1); try { r.setBody('1234567890123456789') } catch (e) {}`, `1`},
		"thrown again":          {`try { r.setBody('1234567890123456789') } catch (e) { throw e }`, ``},
		"grown after it is set": {`var a = []; r.setBody(a); for (var i = 0; i < 20; i++) a.push(i)`, ``},
		"appended":              {`r.appendBody('123456789'); r.appendBody('1234567890')`, ``},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := try(t, newMemory(t), o, `function () { var r = getContext().getResponse(); `+c.script+` }`)
			if c.body == "" {
				var large *script.TooLargeError
				if !errors.As(err, &large) || large.Limit != 20 || !strings.Contains(err.Error(), `Resulting message would be too large because of "Body"`) {
					t.Errorf("got %s, %v, want a TooLargeError", r.Body, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "body", string(r.Body), c.body)
		})
	}
}

// TestEndlessTexts checks that a value fails in time if its text would exhaust the memory.
func TestEndlessTexts(t *testing.T) {
	for _, body := range []string{
		`__.response.setBody(new Array(1e9))`,
		`__.createDocument(__.getSelfLink(), {id: 'a', list: new Array(1e9)})`,
		`__.queryDocuments(__.getSelfLink(), {query: 'SELECT 1', parameters: new Array(1e9)})`,
		`var a = ['x'.repeat(1e4)]; for (var i = 0; i < 60; i++) a = [a, a]; __.response.setBody(a)`,
		`throw new Array(1e9)`,
	} {
		_, err := try(t, newMemory(t), script.Options{}, `function () { `+body+` }`)
		if large, failed := (*script.TooLargeError)(nil), (*script.ScriptError)(nil); !errors.As(err, &large) && !errors.As(err, &failed) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestUnserializableBodies(t *testing.T) {
	for body, want := range map[string]string{
		`var a = {}; a.a = [a]; r.setBody(a)`:                             "TypeError: Converting circular structure to JSON",
		`var a = {}; r.setBody(a); a.a = a`:                               "TypeError: Converting circular structure to JSON",
		`var a = []; for (var i = 0; i < 1e5; i++) a = [a]; r.setBody(a)`: "TypeError: The value is nested too deeply",
		`r.setBody([1n])`: "TypeError: Do not know how to serialize a BigInt",
		`var a = {}; r.setBody(a); a.toJSON = function () { throw 7 }`: "7",
	} {
		_, err := try(t, newMemory(t), script.Options{}, `function () { var r = getContext().getResponse(); `+body+` }`)
		var failed *script.ScriptError
		if !errors.As(err, &failed) {
			t.Fatalf("%s: got %v, want a ScriptError", body, err)
		}
		equal(t, body, failed.Message, want)
	}
}

// jsonValues generates JSON values, including names with a special meaning in JavaScript.
func jsonValues(depth int) *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			kind %= 4
		}
		switch kind {
		case 0:
			return value.Null
		case 1:
			return value.Bool(rapid.Bool().Draw(t, "bool"))
		case 2:
			return rapid.OneOf(rapid.Map(rapid.Float64(), value.Number), rapid.Map(rapid.Int64(), value.Integer)).Draw(t, "number")
		case 3:
			return value.String(rapid.String().Draw(t, "string"))
		case 4:
			return value.Array(rapid.SliceOfN(jsonValues(depth-1), 0, 4).Draw(t, "array"))
		}
		special := rapid.SampledFrom([]string{"__proto__", "constructor", "length", "0", "10", "toString", "number"})
		names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.String(), special), 0, 4, rapid.ID[string]).Draw(t, "names")
		values := make([]value.Value, len(names))
		for i := range names {
			values[i] = jsonValues(depth-1).Draw(t, "property")
		}
		return value.Object(names, values)
	})
}

// TestValuesRoundTrip checks that a script returns what it gets, except that its numbers are
// doubles.
func TestValuesRoundTrip(t *testing.T) {
	p := compile(t, `function (v) { __.response.setBody([v, JSON.stringify(v)]); }`)
	testseed.Check(t, func(rt *rapid.T) {
		v := jsonValues(3).Draw(rt, "value")
		r, err := p.Execute(t.Context(), &memory{}, value.Append(nil, value.Array([]value.Value{v})), script.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		both, err := value.Parse(r.Body)
		if err != nil {
			rt.Fatalf("invalid body %s: %v", r.Body, err)
		}
		text, _ := both.At(1).AsString()
		parsed, err := value.Parse([]byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		if want := value.Scripted(v); !value.Equal(both.At(0), want) || !value.Equal(parsed, want) {
			rt.Fatalf("%s became %s", v, r.Body)
		}
	})
}

// TestLimitOfResponse checks that setBody throws for a random body if and only if its text is too
// long.
func TestLimitOfResponse(t *testing.T) {
	p := compile(t, `function (a) { var r = getContext().getResponse(); try { r.setBody(a) } catch (e) { r.setBody(1) } }`)
	body := rapid.SliceOf(rapid.OneOf(
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"\x00", "\"", "\\", "a", "é"})), func(parts []string) any { return strings.Join(parts, "") }),
		rapid.Map(rapid.SampledFrom([]float64{0, 1e300, -1.2345678901234567e-300, -123456789012345678901, -0.0000012345678901234567}), func(n float64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return map[string]any{"\x00": b, "": nil, "a": []any{}} }),
	))
	testseed.Check(t, func(rt *rapid.T) {
		argument := array(t, body.Draw(rt, "body"))
		v, err := value.Parse(argument)
		if err != nil {
			rt.Fatal(err)
		}
		length := len(value.Text(v.At(0)))
		limit := rapid.IntRange(max(1, length-3), length+3).Draw(rt, "limit")
		r, err := p.Execute(t.Context(), newMemory(t), argument, script.Options{MaxBody: limit})
		if err != nil || (string(r.Body) == "1") != (length > limit) {
			rt.Fatalf("%d bytes with a limit of %d: %s, %v", length, limit, r.Body, err)
		}
	})
}
