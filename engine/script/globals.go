package script

import (
	"net/url"
	"strings"

	"github.com/dop251/goja"
)

// maxLog is the maximum size of the recorded console output in bytes, percent-encoded for a
// response header. The limit of the service is unknown. Node.js accepts at most 16 KB of headers
// in a response.
const maxLog = 8 << 10

// laterGlobals are globals of goja itself, or newer than the language of the service:
// it documents ECMAScript 2015, and in practice 2017 works. They are removed only for
// scripts that contain their names. Removing them for all scripts would make a short execution
// take 50 % longer.
var laterGlobals = []string{"globalThis", "BigInt", "BigInt64Array", "BigUint64Array", "AggregateError", "GoError"}

// hideConstructors removes the constructors that compile text and are reachable through
// generators and async functions.
var hideConstructors = goja.MustCompile("globals", `
	[function* () {}, async function () {}].forEach(function (f) {
		delete Object.getPrototypeOf(f).constructor;
	})`, true)

// install adds the service's globals to the runtime and removes those that the service lacks. It
// adds __ and console only for scripts that name them.
func (x *execution) install(p *Program) error {
	global := x.runtime.GlobalObject()
	x.set(global, "Error", x.errorConstructor())
	x.set(global, "getContext", func(goja.FunctionCall) goja.Value { return x.contextObject() })
	if p.shortcut {
		x.set(global, "__", x.shortcutObject())
	}
	if p.console {
		x.set(global, "console", x.newObject([]string{"log"}, func(string) function { return x.consoleLog }))
	}
	for _, name := range p.laterGlobals {
		global.Delete(name)
	}
	global.Delete("eval")
	global.Get("Function").(*goja.Object).Get("prototype").(*goja.Object).Delete("constructor")
	global.Delete("Function")
	if !p.specialFunctions {
		return nil
	}
	_, err := x.runtime.RunProgram(hideConstructors)
	return err
}

// contextObject returns the result of getContext. It is created once. A pre-trigger has no
// getResponse; calling it throws a TypeError, as in the service.
func (x *execution) contextObject() *goja.Object {
	if x.context == nil {
		names := []string{"getCollection", "getRequest", "abort"}
		if x.response != nil {
			names = append(names, "getResponse")
		}
		x.context = x.newObject(names, x.contextFunction)
	}
	return x.context
}

func (x *execution) contextFunction(name string) function {
	switch name {
	case "getCollection":
		return func(goja.FunctionCall) goja.Value { return x.collectionObject() }
	case "getRequest":
		return func(goja.FunctionCall) goja.Value { return x.messageObject(x.request) }
	case "getResponse":
		return func(goja.FunctionCall) goja.Value { return x.messageObject(x.response) }
	default:
		return x.abort
	}
}

// shortcutObject creates __: the collection with the request and the response.
func (x *execution) shortcutObject() *goja.Object {
	shortcut := x.runtime.CreateObject(x.collectionObject())
	x.set(shortcut, "request", x.messageObject(x.request))
	if x.response != nil {
		x.set(shortcut, "response", x.messageObject(x.response))
	}
	return shortcut
}

// errorConstructor creates the service's Error, which replaces that of the language: new
// Error(number, message) sets both properties. It has the same prototype, so instanceof Error
// still works.
func (x *execution) errorConstructor() *goja.Object {
	native := x.runtime.Get("Error").(*goja.Object)
	prototype := native.Get("prototype").(*goja.Object)
	constructor := x.runtime.ToValue(func(c goja.ConstructorCall) *goja.Object {
		return x.newError(native, prototype, c)
	}).(*goja.Object)
	constructor.SetPrototype(native)
	constructor.DefineDataProperty("name", x.runtime.ToValue("Error"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	constructor.DefineDataProperty("prototype", prototype, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	prototype.DefineDataProperty("constructor", constructor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return constructor
}

func (x *execution) newError(native, prototype *goja.Object, c goja.ConstructorCall) *goja.Object {
	arguments, number := c.Arguments, goja.Value(nil)
	if len(arguments) > 1 && goja.IsNumber(arguments[0]) {
		number, arguments = arguments[0], arguments[1:]
	}
	e, err := x.runtime.New(native, arguments...)
	if err != nil {
		panic(err)
	}
	if number != nil {
		e.DefineDataProperty("number", number, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	if c.NewTarget != nil && c.This.Prototype() != prototype { // a subclass
		e.SetPrototype(c.This.Prototype())
	}
	return e
}

// consoleLog implements console.log of the service: one value, or a format and the values of its
// %s. Calls are not separated. The output of a trigger is discarded.
func (x *execution) consoleLog(c goja.FunctionCall) goja.Value {
	if !x.options.Logging {
		return goja.Undefined()
	}
	if len(c.Arguments) == 0 {
		x.throwArity("log", 1, 0)
	}
	text := c.Argument(0).String()
	if len(c.Arguments) > 1 {
		if !goja.IsString(c.Argument(0)) {
			x.throw(400, "First argument to console.log should be a string containing zero or more substitution strings.")
		}
		text = format(text, c.Arguments[1:])
	}
	if text = url.PathEscape(text); x.log.Len()+len(text) <= maxLog {
		x.log.WriteString(text)
	}
	return goja.Undefined()
}

// format replaces each %s with the next value, or with undefined if there is none, and each %%
// with a percent sign.
func format(text string, values []goja.Value) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		switch {
		case !found:
			return b.String()
		case strings.HasPrefix(after, "%"):
			b.WriteByte('%')
			after = after[1:]
		case strings.HasPrefix(after, "s"):
			next := goja.Undefined()
			if len(values) > 0 {
				next, values = values[0], values[1:]
			}
			b.WriteString(next.String())
			after = after[1:]
		default:
			b.WriteByte('%')
		}
		text = after
	}
}
