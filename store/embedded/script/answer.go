package script

import (
	"github.com/dop251/goja"

	"cosmosblog/store/embedded/value"
)

// The status codes that callbacks get with an operation's success.
const (
	statusOK          = 200
	statusCreated     = 201
	statusNoContent   = 204
	statusNotModified = 304
)

// answer is what a successful operation brought: an item, a page, or its status alone.
type answer struct {
	status int
	item   value.Value
	page   *Page
}

// values makes the arguments of the callback: the failure alone; or no failure, what the operation brought, as a copy
// that is the callback's own, and its options.
func (x *execution) values(a answer, failed *OperationError) []goja.Value {
	if failed != nil {
		return []goja.Value{x.callbackError(failed)}
	}
	options := x.runtime.NewObject()
	x.set(options, "statusCode", a.status)
	switch {
	case a.status == statusNoContent:
		return []goja.Value{goja.Undefined(), options}
	case a.status == statusNotModified:
		x.set(options, "notModified", true)
		return []goja.Value{goja.Undefined(), goja.Undefined(), options}
	case a.page != nil:
		if a.page.Continuation != "" {
			x.set(options, "continuation", a.page.Continuation)
		}
		return []goja.Value{goja.Undefined(), x.toArray(a.page.Items), options}
	}
	return []goja.Value{goja.Undefined(), x.toScript(a.item), options}
}

// callbackError is a plain object, as in the service.
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
