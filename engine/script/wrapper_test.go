package script_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// The service's API of scripts is itself a script, which Microsoft has published:
// utils/DocDbWrapperScript.js of github.com/Azure/azure-cosmosdb-js-server. wrapper.txt has cases,
// what they do in it, and what they do here if that differs. No package holds the file, so the
// tests compare with the recorded results. With the file, they record them again:
//
//	go test ./engine/script -run TestWrapper -wrapper DocDbWrapperScript.js -update
var wrapper = flag.String("wrapper", "", "DocDbWrapperScript.js, to be run beside the engine's own API")

var update = flag.Bool("update", false, "write what TestWrapper records")

const wrapperCases = "testdata/wrapper.txt"

// wrapperCase is a case of wrapper.txt: a line of JavaScript, its result in the wrapper and, if
// that differs, a reason and the result here.
type wrapperCase struct{ script, want, reason, own string }

// TestWrapper runs the cases of wrapper.txt.
func TestWrapper(t *testing.T) {
	text, err := os.ReadFile(wrapperCases)
	if err != nil {
		t.Fatal(err)
	}
	introduction, rest, _ := strings.Cut(string(text), "\n\n")
	lines := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	var written strings.Builder
	written.WriteString(introduction + "\n\n")
	for len(lines) > 0 {
		var c wrapperCase
		if c.script, lines = lines[0], lines[1:]; c.script == "" || c.script[0] == '#' {
			written.WriteString(c.script + "\n")
			continue
		}
		for ; len(lines) > 0 && strings.HasPrefix(lines[0], "\t"); lines = lines[1:] {
			line := lines[0][1:]
			switch reason, differs := strings.CutPrefix(line, "differs: "); {
			case differs:
				c.reason = reason
			case c.reason != "":
				c.own = line
			default:
				c.want = line
			}
		}
		c.run(t)
		fmt.Fprintf(&written, "%s\n\t%s\n", c.script, c.want)
		if c.own != "" {
			fmt.Fprintf(&written, "\tdiffers: %s\n\t%s\n", c.reason, c.own)
		}
	}
	if *update {
		if err := os.WriteFile(wrapperCases, []byte(written.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run executes the case, and records its results.
func (c *wrapperCase) run(t *testing.T) {
	if *wrapper != "" {
		got := c.inWrapper(t)
		if got != c.want && !*update {
			t.Errorf("in the wrapper, %s gives\n%s, recorded is\n%s", c.script, got, c.want)
		}
		c.want = got
	}
	own := c.here(t)
	want := c.want
	if c.reason != "" && !*update {
		want = c.own
	}
	if c.own = ""; own != c.want {
		c.own = own
	}
	if own != want && !*update {
		t.Errorf("%s gives\n%s, want\n%s", c.script, own, want)
	}
	if c.own == "" && c.reason != "" {
		t.Errorf("%s does not differ from the wrapper", c.script)
	}
}

// text returns the script of the case: it ends with what it said, and what it threw.
func (c *wrapperCase) text() string {
	return `function () {` + prelude + `
		try { ` + c.script + `
		} catch (e) { say({ threw: e.number, message: e instanceof Error ? e.message : e }); }
	}`
}

func (c *wrapperCase) items(t *testing.T) *memory {
	return newMemory(t, `{"id":"a","n":1}`, `{"id":"b","n":2}`, `{"id":"c","n":3}`)
}

// outcome describes what a case said, how it ended, and what it asked the collection.
func outcome(m *memory, body string, err error) string {
	if err != nil {
		body = "fails: " + err.Error()
	}
	for i, call := range m.calls {
		m.calls[i] = strings.TrimSuffix(call, "/") // of a link
	}
	return strings.ReplaceAll(strings.Join(append([]string{body}, m.calls...), " | "), "\n", " ")
}

func (c *wrapperCase) here(t *testing.T) string {
	m := c.items(t)
	result, err := try(t, m, script.Options{}, c.text(), 1, "x")
	if failed, ok := errors.AsType[*script.ScriptError](err); ok {
		err = errors.New(strings.TrimPrefix(failed.Message, "operation failed: "))
	}
	return outcome(m, string(result.Body), err)
}

// inWrapper executes the case in the wrapper, over a collection as the service's native one.
func (c *wrapperCase) inWrapper(t *testing.T) string {
	source, err := os.ReadFile(*wrapper)
	if err != nil {
		t.Fatal(err)
	}
	m, runtime := c.items(t), goja.New()
	native := &nativeCollection{runtime: runtime, memory: m}
	native.install()
	run := func(name, text string) goja.Value {
		v, err := runtime.RunScript(name, text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	run("native.js", nativeScript)
	run("wrapper.js", string(source))
	function, _ := goja.AssertFunction(run("case.js", "("+c.text()+")"))
	_, err = function(goja.Undefined())
	for err == nil && len(native.queue) > 0 {
		next := native.queue[0]
		native.queue = native.queue[1:]
		err = next()
	}
	if native.aborted != nil {
		err = native.aborted
	} else if thrown, ok := errors.AsType[*goja.Exception](err); ok {
		text := thrown.Value().String()
		if number := thrown.Value().ToObject(runtime).Get("number"); number != nil && text == "[object Object]" {
			text = number.String() + ": " + thrown.Value().ToObject(runtime).Get("message").String()
		}
		err = errors.New(text)
	}
	return outcome(m, run("body.js", "JSON.stringify(__body.value)").String(), err)
}

// nativeScript defines what the service gives to the wrapper: the messages, and JavaScript's Error
// of Chakra, which takes a number.
const nativeScript = `
	var __docDbRequestProperties = { Body: { value: [1, 'x'], isWritable: false } };
	var __body = { value: '', isWritable: true };
	var __docDbResponseProperties = { Body: __body };
	Error = (function (Native) {
		function Error(number, description) {
			var e = arguments.length > 1 ? new Native(description) : new Native(number);
			if (arguments.length > 1) e.number = number;
			return e;
		}
		Error.prototype = Native.prototype;
		return Error;
	})(Error);`

// nativeCollection is the collection under the wrapper. Its operations are performed after the
// script, in order.
type nativeCollection struct {
	runtime *goja.Runtime
	memory  *memory
	queue   []func() error
	aborted error
}

func (n *nativeCollection) install() {
	raw := n.runtime.NewObject()
	set := func(name string, f func(goja.FunctionCall) goja.Value) {
		if err := raw.Set(name, f); err != nil {
			panic(err)
		}
	}
	set("getSelfLink", func(goja.FunctionCall) goja.Value { return n.runtime.ToValue(n.memory.SelfLink()) })
	set("getAltLink", func(goja.FunctionCall) goja.Value { return n.runtime.ToValue(n.memory.AltLink()) })
	set("abort", func(c goja.FunctionCall) goja.Value {
		n.aborted = errors.New(c.Argument(0).String())
		panic(&goja.InterruptedError{}) // which no script catches
	})
	link := func(c goja.FunctionCall) string {
		if c.Argument(3).ToBoolean() {
			return c.Argument(2).String()
		}
		return n.memory.SelfLink() + "docs/" + c.Argument(2).String()
	}
	item := func(i int, c goja.FunctionCall) value.Value { // null, which is refused, if it is not JSON
		v, err := value.Parse([]byte(c.Argument(i).String()))
		if err != nil {
			return value.Null
		}
		return v
	}
	// Only the wrapper generates ids of this length.
	withID := func(v value.Value) (value.Value, bool) {
		if id, _ := v.Get("id").AsString(); len(id) == len("00000000-0000-0000-0000-000000000000") {
			return v.Without([]string{"id"}), true
		}
		return v, false
	}
	set("read", n.operation(5, func(c goja.FunctionCall) (any, int, string, error) {
		v, err := n.memory.Read(link(c))
		if etag, _ := v.Get("_etag").AsString(); err == nil && etag == c.Argument(4).String() {
			return nil, 304, "", nil
		}
		return v.String(), 200, "", err
	}))
	pageOf := func(p script.Page, err error) (any, int, string, error) {
		return value.Object([]string{"Documents"}, []value.Value{value.Array(p.Items)}).String(), 200, p.Continuation, err
	}
	set("readFeed", n.operation(5, func(c goja.FunctionCall) (any, int, string, error) {
		return pageOf(n.memory.ReadFeed(c.Argument(3).String(), int(c.Argument(4).ToInteger())))
	}))
	query := n.operation(8, func(c goja.FunctionCall) (any, int, string, error) {
		return pageOf(n.memory.Query(context.Background(), []byte(c.Argument(3).String()), c.Argument(4).String(), int(c.Argument(5).ToInteger())))
	})
	set("query", func(c goja.FunctionCall) goja.Value {
		text := value.Text(value.Object([]string{"query"}, []value.Value{value.String(c.Argument(3).String())}))
		if object, ok := c.Argument(3).(*goja.Object); ok {
			text, _ = object.MarshalJSON()
		}
		c.Arguments[3] = n.runtime.ToValue(string(text))
		return query(c)
	})
	set("create", n.operation(5, func(c goja.FunctionCall) (any, int, string, error) {
		v, err := n.memory.Create(withID(item(3, c)))
		return v.String(), 201, "", err
	}))
	set("upsert", n.operation(6, func(c goja.FunctionCall) (any, int, string, error) {
		body, generated := withID(item(3, c))
		v, created, err := n.memory.Upsert(body, generated, c.Argument(4).String())
		return v.String(), map[bool]int{true: 201, false: 200}[created], "", err
	}))
	set("replace", n.operation(7, func(c goja.FunctionCall) (any, int, string, error) {
		v, err := n.memory.Replace(link(c), item(4, c), c.Argument(5).String())
		return v.String(), 200, "", err
	}))
	set("deleteResource", n.operation(6, func(c goja.FunctionCall) (any, int, string, error) {
		return nil, 204, "", n.memory.Delete(link(c), c.Argument(4).String())
	}))
	if err := n.runtime.Set("__docDbCollectionObjectRaw", raw); err != nil {
		panic(err)
	}
}

// operation returns a native operation whose callback is the argument with a number.
func (n *nativeCollection) operation(callback int, perform func(goja.FunctionCall) (body any, status int, next string, err error)) function {
	return func(c goja.FunctionCall) goja.Value {
		c.Arguments = slices.Clone(c.Arguments) // goja uses them again
		n.queue = append(n.queue, func() error {
			body, status, next, err := perform(c)
			call, _ := goja.AssertFunction(c.Argument(callback))
			options := map[string]any{"statusCode": status}
			if status == 304 {
				options["notModified"] = true
			}
			if next != "" {
				options["continuation"] = next
			}
			arguments := []goja.Value{goja.Undefined(), n.runtime.ToValue(map[string]any{"body": body, "options": options})}
			if failed, ok := errors.AsType[*script.OperationError](err); ok {
				arguments = []goja.Value{n.runtime.ToValue(map[string]any{"number": failed.Number, "body": failed.Message, "message": failed.Message})}
			}
			_, err = call(goja.Undefined(), arguments...)
			return err
		})
		return n.runtime.ToValue(true)
	}
}

type function = func(goja.FunctionCall) goja.Value
