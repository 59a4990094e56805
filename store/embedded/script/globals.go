package script

import (
	"strings"

	"github.com/dop251/goja"
)

// maxLog is how many bytes of console output are kept: it travels percent-encoded in a header of the response.
const maxLog = 32 << 10

// hideConstructors takes away what compiles text to code: eval, Function, and the constructors through which every
// function would lead back to Function. They are properties that may be deleted, so that the language itself lacks them.
var hideConstructors = goja.MustCompile("globals", `
	delete globalThis.eval;
	delete globalThis.Function;
	[function () {}, function* () {}, async function () {}].forEach(function (f) {
		delete Object.getPrototypeOf(f).constructor;
	})`, true)

// install gives the runtime the globals of the service, and takes away those that it does not have.
func (x *execution) install() error {
	x.installError()
	if _, err := x.runtime.RunProgram(hideConstructors); err != nil {
		return err
	}
	collection := x.collectionObject()
	context, shortcut := x.runtime.NewObject(), x.runtime.CreateObject(collection)
	x.set(context, "getCollection", returning(collection))
	x.set(context, "abort", x.abort)
	x.installMessage(context, shortcut, "getRequest", "request", x.request)
	x.installMessage(context, shortcut, "getResponse", "response", x.response)

	console := x.runtime.NewObject()
	x.set(console, "log", x.consoleLog)
	global := x.runtime.GlobalObject()
	x.set(global, "getContext", returning(context))
	x.set(global, "__", shortcut)
	x.set(global, "console", console)
	return nil
}

// installMessage leaves the response of a pre-trigger away, so that asking for it is a TypeError as in the service.
func (x *execution) installMessage(context, shortcut *goja.Object, getter, property string, m *message) {
	if m != nil {
		object := x.messageObject(m)
		x.set(context, getter, returning(object))
		x.set(shortcut, property, object)
	}
}

func returning(object *goja.Object) func(goja.FunctionCall) goja.Value {
	return func(goja.FunctionCall) goja.Value { return object }
}

// installError puts the service's Error in the place of the language's: new Error(number, message) has both. Everything
// that is an Error stays one, since the prototype is the same.
func (x *execution) installError() {
	native := x.runtime.Get("Error").(*goja.Object)
	prototype := native.Get("prototype").(*goja.Object)
	constructor := x.runtime.ToValue(func(c goja.ConstructorCall) *goja.Object {
		return x.newError(native, prototype, c)
	}).(*goja.Object)
	constructor.SetPrototype(native)
	constructor.DefineDataProperty("name", x.runtime.ToValue("Error"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	constructor.DefineDataProperty("prototype", prototype, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	prototype.DefineDataProperty("constructor", constructor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	x.runtime.GlobalObject().DefineDataProperty("Error", constructor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
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

// consoleLog is console.log of the service: one value as it is, or a format and the values of its %s; nothing between
// one call's text and the next one's; and nothing is recorded in a pre-trigger, which has no response to carry it.
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
	if x.response != nil && x.log.Len()+len(text) <= maxLog {
		x.log.WriteString(text)
	}
	return goja.Undefined()
}

// format replaces each %s by the next value, undefined where they have run out, and %% by one percent sign.
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
