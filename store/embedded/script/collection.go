package script

import (
	"fmt"

	"github.com/dop251/goja"
)

// operation is one that a script asked for.
type operation struct {
	perform  func() (answer, error)
	callback goja.Callable // nil where the script gave none: then a failure ends the execution
}

// methods are the operations of a collection object. Each checks its arguments, which may throw, and makes the operation
// that is then accepted or refused.
var methods = []struct {
	name     string
	required int // how many arguments
	make     func(*execution, arguments) operation
}{
	{"readDocument", 1, (*execution).readDocument},
	{"readDocuments", 1, (*execution).readDocuments},
	{"queryDocuments", 2, (*execution).queryDocuments},
	{"createDocument", 2, (*execution).createDocument},
	{"upsertDocument", 2, (*execution).upsertDocument},
	{"replaceDocument", 2, (*execution).replaceDocument},
	{"deleteDocument", 1, (*execution).deleteDocument},
}

func (x *execution) collectionObject() *goja.Object {
	object := x.runtime.NewObject()
	x.set(object, "getSelfLink", func(goja.FunctionCall) goja.Value { return x.runtime.ToValue(x.collection.SelfLink()) })
	x.set(object, "getAltLink", func(goja.FunctionCall) goja.Value { return x.runtime.ToValue(x.collection.AltLink()) })
	for _, m := range methods {
		x.set(object, m.name, func(c goja.FunctionCall) goja.Value {
			if len(c.Arguments) < m.required {
				x.throwArity(m.name, m.required, len(c.Arguments))
			}
			o := m.make(x, arguments{x, c.Arguments, m.required})
			return x.runtime.ToValue(x.enqueue(o))
		})
	}
	return object
}

func (x *execution) throwArity(function string, required, given int) {
	x.throw(400, fmt.Sprintf("The function %q requires at least %d argument(s) but was called with %d argument(s).",
		function, required, given))
}

func (x *execution) readDocument(a arguments) operation {
	link, options, callback := a.itemLink(0), a.options(), a.callback()
	ifNoneMatch := options.text("ifNoneMatch")
	return operation{callback: callback, perform: func() (answer, error) {
		item, err := x.collection.Read(link)
		if err == nil && ifNoneMatch != "" && etag(item) == ifNoneMatch {
			return answer{status: statusNotModified}, nil
		}
		return answer{status: statusOK, item: item}, err
	}}
}

func (x *execution) readDocuments(a arguments) operation {
	a.checkCollectionLink(0)
	options, callback := a.options(), a.callback()
	continuation, pageSize := options.text("continuation"), options.pageSize()
	return operation{callback: callback, perform: func() (answer, error) {
		page, err := x.collection.ReadFeed(continuation, pageSize)
		return answer{status: statusOK, page: &page}, err
	}}
}

func (x *execution) queryDocuments(a arguments) operation {
	a.checkCollectionLink(0)
	query, options, callback := a.query(1), a.options(), a.callback()
	continuation, pageSize := options.text("continuation"), options.pageSize()
	return operation{callback: callback, perform: func() (answer, error) {
		page, err := x.collection.Query(query, continuation, pageSize)
		return answer{status: statusOK, page: &page}, err
	}}
}

func (x *execution) createDocument(a arguments) operation {
	a.checkCollectionLink(0)
	body, options, callback := a.item(1), a.options(), a.callback()
	return operation{callback: callback, perform: x.create(body, options.generatesID())}
}

func (x *execution) create(body []byte, generateID bool) func() (answer, error) {
	return func() (answer, error) {
		item, err := x.collection.Create(body, generateID)
		return answer{status: statusCreated, item: item}, err
	}
}

func (x *execution) upsertDocument(a arguments) operation {
	a.checkCollectionLink(0)
	body, options, callback := a.item(1), a.options(), a.callback()
	if options.generatesID() && !hasID(body) { // it is in no container yet, so that its upsert is a create
		return operation{callback: callback, perform: x.create(body, true)}
	}
	ifMatch := options.text("etag")
	return operation{callback: callback, perform: func() (answer, error) {
		item, err := x.collection.Upsert(body, ifMatch)
		return answer{status: statusOK, item: item}, err
	}}
}

func (x *execution) replaceDocument(a arguments) operation {
	link, body, options, callback := a.itemLink(0), a.item(1), a.options(), a.callback()
	ifMatch := options.text("etag")
	return operation{callback: callback, perform: func() (answer, error) {
		item, err := x.collection.Replace(link, body, ifMatch)
		return answer{status: statusOK, item: item}, err
	}}
}

func (x *execution) deleteDocument(a arguments) operation {
	link, options, callback := a.itemLink(0), a.options(), a.callback()
	ifMatch := options.text("etag")
	return operation{callback: callback, perform: func() (answer, error) {
		return answer{status: statusNoContent}, x.collection.Delete(link, ifMatch)
	}}
}
