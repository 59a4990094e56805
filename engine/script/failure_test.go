package script_test

import (
	"errors"
	"strings"
	"testing"

	"cosmosblog/engine/script"
)

func TestUncaughtExceptions(t *testing.T) {
	cases := map[string]struct {
		script  string
		number  int
		message string
	}{
		"error":               {`throw new Error('gone')`, 0, "Error: gone"},
		"numbered":            {`throw new Error(4041, 'POST_NOT_FOUND')`, 4041, "Error: POST_NOT_FOUND"},
		"without new":         {`throw Error(7, 'x')`, 7, "Error: x"},
		"number alone":        {`throw new Error(404)`, 0, "Error: 404"},
		"nothing":             {`throw new Error()`, 0, "Error"},
		"cause":               {`throw new Error('x', {cause: 1})`, 0, "Error: x"},
		"subclass":            {`class E extends Error { constructor(n, m) { super(n, m); this.name = 'E' } } throw new E(9, 'mine')`, 9, "E: mine"},
		"native error":        {`undefined.x`, 0, "TypeError: Cannot read property 'x' of undefined"},
		"number set later":    {`var e = new TypeError('t'); e.number = 3; throw e`, 3, "TypeError: t"},
		"number not numeric":  {`var e = new Error('t'); e.number = '3'; throw e`, 0, "Error: t"},
		"string":              {`throw 'text'`, 0, "text"},
		"undefined":           {`throw undefined`, 0, "undefined"},
		"object":              {`throw {number: 400, body: 'b'}`, 0, `{"number":400,"body":"b"}`},
		"circular object":     {`var o = {}; o.o = o; throw o`, 0, "exception without a readable message"},
		"toString throws":     {`var e = new Error('x'); e.toString = function () { throw 1 }; throw e`, 0, "exception without a readable message"},
		"operation's error":   {`__.readDocument(__.getAltLink() + '/docs/z', function (err) { throw err })`, 0, `{"number":404,"body":"not found","message":"not found"}`},
		"operation rethrown":  {`__.readDocument(__.getAltLink() + '/docs/z', function (err) { throw new Error(err.number, err.message) })`, 404, "Error: not found"},
		"abort":               {`getContext().abort(new Error(12, 'stop'))`, 12, "Error: stop"},
		"abort, no argument":  {`getContext().abort()`, 0, "undefined"},
		"abort is not caught": {`try { getContext().abort(new Error('stop')) } catch (e) {} finally { __.response.setBody(1) }`, 0, "Error: stop"},
		"abort in a callback": {`__.readDocument(__.getAltLink() + '/docs/z', function () { getContext().abort('stop') })`, 0, "stop"},
		"abort in a promise":  {`Promise.resolve().then(function () { getContext().abort('stop') })`, 0, "stop"},
		"abort in async":      {`(async function () { await 1; try { getContext().abort('stop') } catch (e) {} })()`, 0, "stop"},
		"recursion":           {`(function f() { f() })()`, 0, "RangeError: Maximum call stack size exceeded"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := try(t, newMemory(t), script.Options{}, `function () { `+c.script+` }`)
			var failed *script.ScriptError
			if !errors.As(err, &failed) {
				t.Fatalf("got %v, want a ScriptError", err)
			}
			equal(t, "number", failed.Number, c.number)
			equal(t, "message", failed.Message, c.message)
		})
	}
}

func TestStackContainsTheScriptsName(t *testing.T) {
	p, err := script.Compile("createComment", "function main() {\n  [1].forEach(inner);\n  function inner() {\n    throw new Error(1, 'x');\n  }\n}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Execute(t.Context(), newMemory(t), nil, script.Options{})
	var failed *script.ScriptError
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	lines := strings.Split(failed.Stack, "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "at inner (createComment:4:") || !strings.HasPrefix(lines[1], "at main (createComment:2:") {
		t.Errorf("stack:\n%s", failed.Stack)
	}
}

func TestError(t *testing.T) {
	cases := map[string]struct{ script, want string }{
		"both":                  {`var e = new Error(404, 'x'); return [e.number, e.message, String(e), e.name]`, `[404,"x","Error: x","Error"]`},
		"only a message":        {`var e = new Error('x'); return ['number' in e, e.message]`, `[false,"x"]`},
		"instanceof":            {`return [new Error(1, 'x') instanceof Error, new TypeError('t') instanceof Error, Error(1, 'x') instanceof Error]`, `[true,true,true]`},
		"native error":          {`try { null.x } catch (e) { return [e instanceof Error, e instanceof TypeError, e.number === undefined] }`, `[true,true,true]`},
		"constructor":           {`return [new Error('x').constructor === Error, Error.prototype.constructor === Error, Error.name, Object.keys(new Error(1, 'x'))]`, `[true,true,"Error",[]]`},
		"subclass":              {`class E extends Error {} var e = new E(5, 'm'); return [e instanceof E, e instanceof Error, e.number, e.message]`, `[true,true,5,"m"]`},
		"ES5 subclass":          {`function E(m) { this.message = m; } E.prototype = Object.create(Error.prototype); var e = new E('m'); return [e instanceof Error, String(e)]`, `[true,"Error: m"]`},
		"stack":                 {`function here() { return new Error(1, 'x') } var s = here().stack; return [typeof s, s.indexOf('Error: x'), s.indexOf('here') > 0]`, `["string",0,true]`},
		"called as a method":    {`var ns = {Error: Error}; var e = ns.Error('x'); return [e instanceof Error, e.message]`, `[true,"x"]`},
		"of the global object":  {`var e = (function () { return this })().Error(2, 'x'); return [e instanceof Error, e.number]`, `[true,2]`},
		"thrown through native": {`try { [1].forEach(function () { throw new Error(6, 'x') }) } catch (e) { return [e.number] }`, `[6]`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			equal(t, "result", execute(t, newMemory(t), `function () { __.response.setBody((function () { `+c.script+` })()) }`), c.want)
		})
	}
}

func TestErrorReplacedByTheScript(t *testing.T) {
	equal(t, "thrown", execute(t, newMemory(t), `function () {
		Error = null;
		try { __.readDocument(); } catch (e) { __.response.setBody(e instanceof TypeError) }
	}`), "true")
}

func TestErrorTexts(t *testing.T) {
	for want, err := range map[string]error{
		"compiling script s: m":           &script.CompileError{Name: "s", Message: "m"},
		"invalid script arguments: m":     &script.ArgumentError{Message: "m"},
		"script failed: m":                &script.ScriptError{Message: "m"},
		"script failed: m (404)":          &script.ScriptError{Message: "m", Number: 404},
		"the script ran for more than 5s": &script.TimeoutError{Limit: script.DefaultTimeout},
		"operation failed: 409: exists":   &script.OperationError{Number: 409, Message: "exists"},
	} {
		equal(t, "text", err.Error(), want)
	}
	equal(t, "unwrapped", errors.Unwrap(&script.ScriptError{}), nil)
}

func TestCodeCannotBeCompiledFromText(t *testing.T) {
	for _, expression := range []string{
		`eval('1')`, `Function('return 1')()`, `new Function('return 1')`, `(0, (function () { return this })()['eval'])('1')`,
		`(function () {}).constructor('return 1')()`, `(function* () {}).constructor('yield 1')().next()`,
		`(async function () {}).constructor('return 1')()`, `(async () => {}).constructor('return 1')()`,
		`getContext.constructor('return 1')()`, `__.readDocument.constructor('return 1')()`, `Error.constructor('return 1')()`,
		`class A { m() {} }; new A().m.constructor('return 1')()`,
		`setTimeout(function () {}, 0)`, `require('fs')`,
	} {
		body := execute(t, newMemory(t), `function () { var ran; try { ran = `+strings.Replace(expression, "class A { m() {} };", "", 1)+`; } catch (e) { ran = 'rejected'; }
			class A { m() {} }
			__.response.setBody(ran); }`)
		if body != `"rejected"` {
			t.Errorf("%s: got %s", expression, body)
		}
	}
}

func TestGlobalsAreThoseOfTheService(t *testing.T) {
	equal(t, "globals", execute(t, newMemory(t), `function () {
		var es2017 = ['Object', 'Array', 'String', 'Number', 'RegExp', 'Date', 'Boolean', 'Proxy', 'Reflect', 'Error', 'TypeError', 'ReferenceError',
			'SyntaxError', 'RangeError', 'EvalError', 'URIError', 'Math', 'JSON', 'ArrayBuffer', 'DataView', 'Uint8Array', 'Uint8ClampedArray',
			'Int8Array', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'Float32Array', 'Float64Array', 'Symbol', 'WeakSet', 'WeakMap',
			'Map', 'Set', 'Promise', 'NaN', 'undefined', 'Infinity', 'isNaN', 'parseInt', 'parseFloat', 'isFinite', 'decodeURI',
			'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'getContext', '__', 'console'];
		var there = Object.getOwnPropertyNames(this);
		var later = [typeof globalThis, typeof BigInt, typeof BigInt64Array, typeof BigUint64Array, typeof AggregateError, typeof GoError];
		__.response.setBody([later.filter(function (type) { return type !== 'undefined' }),
			there.filter(function (name) { return es2017.indexOf(name) < 0 }), es2017.filter(function (name) { return there.indexOf(name) < 0 })]);
	}`), `[[],[],[]]`)
	for _, name := range []string{"BigInt", "WebAssembly", "SharedArrayBuffer", "setTimeout", "setInterval", "setImmediate", "require", "module", "process", "fetch", "XMLHttpRequest"} {
		equal(t, name, execute(t, newMemory(t), `function () { __.response.setBody(typeof `+name+`) }`), `"undefined"`)
	}
}

func TestRejectedPromises(t *testing.T) {
	cases := map[string]struct {
		script  string
		handled bool
	}{
		"async function":      {`(async function () { throw new Error(3, 'lost') })()`, false},
		"in a reaction":       {`Promise.resolve().then(function () { throw new Error(3, 'lost') })`, false},
		"in a callback":       {`__.readDocument(__.getAltLink() + '/docs/z', async function () { throw new Error(3, 'lost') })`, false},
		"handled":             {`(async function () { throw 1 })().catch(function () {})`, true},
		"handled in callback": {`var p = Promise.reject(1); __.readDocument(__.getAltLink() + '/docs/z', function () { p.catch(function () {}) })`, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			body := `function () { ` + c.script + `; __.createDocument(__.getAltLink(), {id: 'after'}) }`
			m := newMemory(t)
			if _, err := try(t, m, script.Options{}, body); err != nil {
				t.Errorf("not strict: %v", err)
			}
			equal(t, "created", m.get("after", "id"), `"after"`)

			_, err := try(t, newMemory(t), script.Options{Strict: true}, body)
			var failed *script.ScriptError
			switch {
			case c.handled && err != nil:
				t.Errorf("strict: %v", err)
			case !c.handled && (!errors.As(err, &failed) || failed.Number != 3 || failed.Message != "Error: lost"):
				t.Errorf("strict: got %v, want the rejection", err)
			}
		})
	}
}

func TestPromiseJobsRunBeforeAndBetweenOperations(t *testing.T) {
	m := newMemory(t, `{"id":"a"}`)
	equal(t, "order", run(t, m, `
		c.readDocument(doc('a'), function () { say('callback 1'); Promise.resolve().then(function () { say('job 2') }); });
		c.readDocument(doc('a'), function () { say('callback 2'); });
		Promise.resolve().then(function () { say('job 1') });
		say('main');`), `["main","job 1","callback 1","job 2","callback 2"]`)
}

func TestOperationsRequestedInPromiseJobs(t *testing.T) {
	m := newMemory(t, `{"id":"a","n":4}`)
	equal(t, "body", run(t, m, `
		function read(id) { return new Promise(function (resolve, reject) { c.readDocument(doc(id), function (err, d) { err ? reject(err) : resolve(d) }) }) }
		(async function () {
			var a = await read('a');
			try { await read('z') } catch (err) { say(a.n, err.number) }
		})();`), `[4,404]`)
}
