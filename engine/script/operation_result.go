package script

import (
	"github.com/dop251/goja"

	"cosmosblog/engine/value"
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
	switch {
	case r.status == statusNoContent:
		return []goja.Value{goja.Undefined(), x.callbackOptions(r)}
	case r.status == statusNotModified:
		return []goja.Value{goja.Undefined(), goja.Undefined(), x.callbackOptions(r)}
	case r.page != nil:
		return []goja.Value{goja.Undefined(), x.toArray(r.page.Items), x.callbackOptions(r)}
	}
	return []goja.Value{goja.Undefined(), x.toScript(r.item), x.callbackOptions(r)}
}

// callbackOptions returns the options of a callback after a successful operation.
func (x *execution) callbackOptions(r operationResult) goja.Value {
	names, values := []string{"statusCode"}, []value.Value{value.Number(float64(r.status))}
	switch {
	case r.status == statusNotModified:
		names, values = append(names, "notModified"), append(values, value.True)
	case r.page != nil && r.page.Continuation != "":
		names, values = append(names, "continuation"), append(values, value.String(r.page.Continuation))
	}
	return x.toScript(value.Object(names, values))
}

// callbackError returns the error for a callback: a plain object, as in the service.
func (x *execution) callbackError(failed *OperationError) goja.Value {
	message := value.String(failed.Message)
	return x.toScript(value.Object([]string{"number", "body", "message"},
		[]value.Value{value.Number(float64(failed.Number)), message, message}))
}

func etag(item value.Value) string {
	tag, _ := item.Get("_etag").AsString()
	return tag
}
