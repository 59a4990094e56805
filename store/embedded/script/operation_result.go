package script

import (
	"github.com/dop251/goja"

	"cosmosblog/store/embedded/value"
)

// The status codes in the options of a callback after a successful operation.
const (
	statusOK          = 200
	statusCreated     = 201
	statusNoContent   = 204
	statusNotModified = 304
)

// operationResult is the result of a successful operation: an item, a page, or only a status.
type operationResult struct {
	status int
	item   value.Value
	page   *Page
}

// callbackArguments returns the arguments of a callback. After a failure, the error is the only
// argument. Otherwise, they are undefined instead of an error, a copy of the result that belongs
// to the callback, and the options.
func (x *execution) callbackArguments(r operationResult, failed *OperationError) []goja.Value {
	if failed != nil {
		return []goja.Value{x.callbackError(failed)}
	}
	options := x.runtime.NewObject()
	x.set(options, "statusCode", r.status)
	switch {
	case r.status == statusNoContent:
		return []goja.Value{goja.Undefined(), options}
	case r.status == statusNotModified:
		x.set(options, "notModified", true)
		return []goja.Value{goja.Undefined(), goja.Undefined(), options}
	case r.page != nil:
		if r.page.Continuation != "" {
			x.set(options, "continuation", r.page.Continuation)
		}
		return []goja.Value{goja.Undefined(), x.toArray(r.page.Items), options}
	}
	return []goja.Value{goja.Undefined(), x.toScript(r.item), options}
}

// callbackError returns the error for a callback: a plain object, as in the service.
func (x *execution) callbackError(failed *OperationError) goja.Value {
	e := x.runtime.NewObject()
	x.set(e, "number", failed.Number)
	x.set(e, "body", failed.Message)
	x.set(e, "message", failed.Message)
	return e
}

func etag(item value.Value) string {
	tag, _ := item.Get("_etag").AsString()
	return tag
}
