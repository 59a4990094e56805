package script

import (
	"context"
	"errors"
	"strings"

	"github.com/dop251/goja"
)

// throw throws new Error(number, message) from a function that the script called.
func (x *execution) throw(number int, message string) {
	e, err := x.runtime.New(x.runtime.Get("Error"), x.runtime.ToValue(number), x.runtime.ToValue(message))
	if err != nil { // the script has replaced Error
		panic(x.runtime.NewTypeError("%s", message))
	}
	panic(e)
}

// throwSyntaxError throws the error that JSON.parse throws.
func (x *execution) throwSyntaxError(cause error) {
	e, err := x.runtime.New(x.runtime.Get("SyntaxError"), x.runtime.ToValue(cause.Error()))
	if err != nil {
		panic(x.runtime.NewTypeError("%s", cause.Error()))
	}
	panic(e)
}

// failure converts an error of goja into an error of this package.
func (x *execution) failure(err error) error {
	if x.aborted != nil {
		return x.aborted
	}
	if _, ok := errors.AsType[*goja.InterruptedError](err); ok {
		return context.Cause(x.ctx)
	}
	if _, ok := errors.AsType[*goja.StackOverflowError](err); ok {
		return &ScriptError{Message: "RangeError: Maximum call stack size exceeded"}
	}
	if large, ok := errors.AsType[*TooLargeError](err); ok {
		return large
	}
	if exception, ok := errors.AsType[*goja.Exception](err); ok {
		return x.scriptError(exception.Value())
	}
	return err
}

// scriptError returns a ScriptError for a thrown value. Reading the value can call functions of
// the script, which may throw or never return.
func (x *execution) scriptError(thrown goja.Value) error {
	e := &ScriptError{Message: "exception without a readable message"}
	err := x.enter(func() {
		object, isObject := thrown.(*goja.Object)
		switch {
		case !isObject:
			e.Message = thrown.String()
		case object.ClassName() == "Error":
			e.Message = thrown.String()
			e.Number = errorNumber(object)
			e.Stack = stackLines(object.Get("stack"))
		default:
			e.Message = string(x.stringify(thrown))
		}
	})
	if _, interrupted := errors.AsType[*goja.InterruptedError](err); interrupted && x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	return e
}

func errorNumber(e *goja.Object) int {
	if number := e.Get("number"); number != nil && goja.IsNumber(number) {
		return int(number.ToInteger())
	}
	return 0
}

// stackLines returns the lines of a stack that refer to the script. It drops the first line,
// which is the message, and the frames of Go functions.
func stackLines(stack goja.Value) string {
	if stack == nil {
		return ""
	}
	var kept []string
	for line := range strings.Lines(stack.String()) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "at ") && !strings.HasSuffix(line, "(native)") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// enter runs f as if the script had called it. It returns thrown values and interruptions as
// errors.
func (x *execution) enter(f func()) error {
	call, _ := goja.AssertFunction(x.runtime.ToValue(func(goja.FunctionCall) goja.Value {
		f()
		return goja.Undefined()
	}))
	_, err := call(goja.Undefined())
	return err
}
