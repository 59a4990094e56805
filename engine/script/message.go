package script

import (
	"strings"

	"github.com/dop251/goja"
)

// message is the request or the response of an execution as the script sees it.
type message struct {
	text      []byte // body as received; parsed when the script first reads it
	body      goja.Value
	operation string // of a trigger's request
	writable  bool
	changed   bool // by the script
	limit     int  // maximum size of the body in bytes; 0 for none
	object    *goja.Object
}

// The names of a message's values for getValue, setValue and appendValue. They are
// case-insensitive.
const (
	bodyName      = "body"
	operationName = "operationType"
)

// names returns the names of the functions of m's object. As in the service, a read-only message
// has no functions that change it.
func (m *message) names() []string {
	names := []string{"getBody", "getValue"}
	if m.operation != "" {
		names = append(names, "getOperationType")
	}
	if m.writable {
		names = append(names, "setBody", "appendBody", "setValue", "appendValue")
	}
	return names
}

// messageObject returns the script's object for m. It is created once.
func (x *execution) messageObject(m *message) *goja.Object {
	if m.object == nil {
		m.object = x.newObject(m.names(), func(name string) function { return x.messageFunction(m, name) })
	}
	return m.object
}

func (x *execution) messageFunction(m *message, name string) function {
	return func(c goja.FunctionCall) goja.Value {
		switch name {
		case "getBody":
			return x.body(m)
		case "getValue":
			return x.messageValue(m, c.Argument(0))
		case "getOperationType":
			return x.runtime.ToValue(m.operation)
		case "setBody":
			x.setBody(m, c.Argument(0))
		case "appendBody":
			x.appendBody(m, c.Argument(0))
		case "setValue":
			if x.isWritable(c.Argument(0)) {
				x.setBody(m, c.Argument(1))
			}
		case "appendValue":
			if x.isWritable(c.Argument(0)) {
				x.appendBody(m, c.Argument(1))
			}
		}
		return goja.Undefined()
	}
}

func (x *execution) messageValue(m *message, name goja.Value) goja.Value {
	switch {
	case goja.IsUndefined(name):
		return name
	case strings.EqualFold(name.String(), bodyName):
		return x.body(m)
	case strings.EqualFold(name.String(), operationName) && m.operation != "":
		return x.runtime.ToValue(m.operation)
	}
	x.throw(400, "No such value: "+name.String())
	return nil
}

// isWritable reports whether a value has a name, and throws unless that is the name of the body. A
// script may not change other values of a message.
func (x *execution) isWritable(name goja.Value) bool {
	switch {
	case goja.IsUndefined(name):
		return false
	case strings.EqualFold(name.String(), bodyName):
	case strings.EqualFold(name.String(), operationName):
		x.throw(403, "Not a writable property: "+name.String())
	default:
		x.throw(400, "Cannot set new values: "+name.String())
	}
	return true
}

// body returns the body of m, the same value at every call. A script may change that object and
// set it again.
func (x *execution) body(m *message) goja.Value {
	if m.body == nil {
		m.body = goja.Undefined()
		if len(m.text) > 0 {
			body, err := x.parse(m.text)
			if err != nil {
				x.throwSyntaxError(err)
			}
			m.body = body
		}
	}
	return m.body
}

// setBody stores the value, not its text. Later changes to the value also affect the response.
func (x *execution) setBody(m *message, body goja.Value) {
	if m.limit > 0 && x.exceeds(body, m.limit) {
		x.throwTooLarge(m.limit)
	}
	m.body, m.changed = body, true
}

// appendBody applies JavaScript's + to the existing body and the addition. Without an existing
// body, it calls setBody.
func (x *execution) appendBody(m *message, addition goja.Value) {
	body := x.body(m)
	switch {
	case goja.IsUndefined(body) || goja.IsNull(body):
		x.setBody(m, addition)
	case isNumeric(body) && isNumeric(addition):
		x.setBody(m, x.runtime.ToValue(body.ToFloat()+addition.ToFloat()))
	default:
		x.setBody(m, x.runtime.ToValue(body.String()+addition.String()))
	}
}

// isNumeric reports whether JavaScript's + adds v as a number.
func isNumeric(v goja.Value) bool {
	switch typeOf(v) {
	case "number", "boolean", "undefined":
		return true
	}
	return goja.IsNull(v)
}

// throwTooLarge throws an Error with the number 413. If the script does not catch it, failure
// returns a TooLargeError.
func (x *execution) throwTooLarge(limit int) {
	e := x.runtime.NewGoError(&TooLargeError{limit})
	x.set(e, "name", "Error")
	x.set(e, "number", 413)
	panic(e)
}

// text serializes the final body.
func (x *execution) text(m *message) (text []byte, err error) {
	if err := x.enter(func() { text = x.stringify(m.body) }); err != nil {
		return nil, x.failure(err)
	}
	if m.limit > 0 && len(text) > m.limit {
		return nil, &TooLargeError{m.limit}
	}
	if text == nil {
		return []byte(`""`), nil
	}
	return text, nil
}

// item serializes the final item of a pre-trigger: an object, or a string that is already JSON,
// as createDocument accepts. It returns nil if the item is undefined.
func (x *execution) item(m *message) ([]byte, error) {
	if goja.IsUndefined(m.body) {
		return nil, nil
	}
	if goja.IsString(m.body) {
		return []byte(m.body.String()), nil
	}
	return x.text(m)
}
