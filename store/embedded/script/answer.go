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
	item   []byte
	page   *Page
}

// values makes the arguments of the callback: the failure alone; or no failure, what the operation brought, as a copy
// that is the callback's own, and its options. An error means that the collection gave something that is not JSON.
func (x *execution) values(a answer, failed *OperationError) ([]goja.Value, error) {
	if failed != nil {
		return []goja.Value{x.callbackError(failed)}, nil
	}
	options := x.runtime.NewObject()
	x.set(options, "statusCode", a.status)
	switch {
	case a.status == statusNoContent:
		return []goja.Value{goja.Undefined(), options}, nil
	case a.status == statusNotModified:
		x.set(options, "notModified", true)
		return []goja.Value{goja.Undefined(), goja.Undefined(), options}, nil
	case a.page != nil:
		if a.page.Continuation != "" {
			x.set(options, "continuation", a.page.Continuation)
		}
		items, err := x.items(a.page.Items)
		return []goja.Value{goja.Undefined(), items, options}, err
	}
	item, err := x.parse(a.item)
	return []goja.Value{goja.Undefined(), item, options}, err
}

func (x *execution) items(texts [][]byte) (goja.Value, error) {
	items := make([]any, len(texts))
	for i, text := range texts {
		item, err := x.parse(text)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return x.runtime.NewArray(items...), nil
}

// callbackError is a plain object, as in the service.
func (x *execution) callbackError(failed *OperationError) goja.Value {
	e := x.runtime.NewObject()
	x.set(e, "number", failed.Number)
	x.set(e, "body", failed.Message)
	x.set(e, "message", failed.Message)
	return e
}

func etag(item []byte) string {
	v, _ := value.Parse(item)
	tag, _ := v.Get("_etag").AsString()
	return tag
}
