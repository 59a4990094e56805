package script

import (
	"fmt"

	"github.com/dop251/goja"
)

// operation is an operation requested by a script.
type operation struct {
	perform  func() (operationResult, error)
	callback goja.Callable // nil if there is none; a failure then ends the execution
}

// collectionNames are the names of the functions of a collection object.
var collectionNames = []string{"getSelfLink", "getAltLink", "readDocument", "readDocuments", "queryDocuments",
	"createDocument", "upsertDocument", "replaceDocument", "deleteDocument"}

// collectionObject returns the script's collection object. It is created once.
func (x *execution) collectionObject() *goja.Object {
	if x.documents == nil {
		x.documents = x.newObject(collectionNames, x.collectionFunction)
	}
	return x.documents
}

func (x *execution) collectionFunction(name string) function {
	switch name {
	case "getSelfLink":
		return func(goja.FunctionCall) goja.Value { return x.runtime.ToValue(x.collection.SelfLink()) }
	case "getAltLink":
		return func(goja.FunctionCall) goja.Value { return x.runtime.ToValue(x.collection.AltLink()) }
	case "readDocument":
		return x.requestFunction(name, 1, x.readDocument)
	case "readDocuments":
		return x.requestFunction(name, 1, x.readDocuments)
	case "queryDocuments":
		return x.requestFunction(name, 2, x.queryDocuments)
	case "createDocument":
		return x.requestFunction(name, 2, x.createDocument)
	case "upsertDocument":
		return x.requestFunction(name, 2, x.upsertDocument)
	case "replaceDocument":
		return x.requestFunction(name, 2, x.replaceDocument)
	default:
		return x.requestFunction(name, 1, x.deleteDocument)
	}
}

// requestFunction returns a function that requests an operation and returns whether it was
// accepted. build checks the arguments, and may throw. required is the number of required
// arguments; the options and the callback follow them.
func (x *execution) requestFunction(name string, required int, build func(arguments) operation) function {
	return func(c goja.FunctionCall) goja.Value {
		if len(c.Arguments) < required {
			x.throwArity(name, required, len(c.Arguments))
		}
		return x.runtime.ToValue(x.enqueue(build(arguments{x, c.Arguments, required})))
	}
}

func (x *execution) throwArity(function string, required, given int) {
	x.throw(400, fmt.Sprintf("The function %q requires at least %d argument(s) but was called with %d argument(s).",
		function, required, given))
}

func (x *execution) readDocument(a arguments) operation {
	link, options, callback := a.itemLink(0), a.options(), a.callback()
	ifNoneMatch := options.text("ifNoneMatch")
	return operation{callback: callback, perform: func() (operationResult, error) {
		item, err := x.collection.Read(link)
		if err == nil && ifNoneMatch != "" && etag(item) == ifNoneMatch {
			return operationResult{status: statusNotModified}, nil
		}
		return operationResult{status: statusOK, item: item}, err
	}}
}

func (x *execution) readDocuments(a arguments) operation {
	a.checkCollectionLink(0)
	options, callback := a.options(), a.callback()
	continuation, pageSize := options.text("continuation"), a.pageSize(options)
	return operation{callback: callback, perform: func() (operationResult, error) {
		page, err := x.collection.ReadFeed(continuation, pageSize)
		return operationResult{status: statusOK, page: &page}, err
	}}
}

func (x *execution) queryDocuments(a arguments) operation {
	a.checkCollectionLink(0)
	query, options, callback := a.query(1), a.options(), a.callback()
	continuation, pageSize := options.text("continuation"), a.pageSize(options)
	return operation{callback: callback, perform: func() (operationResult, error) {
		page, err := x.collection.Query(x.ctx, query, continuation, pageSize)
		return operationResult{status: statusOK, page: &page}, err
	}}
}

func (x *execution) createDocument(a arguments) operation {
	a.checkCollectionLink(0)
	item, options, callback := a.item(1), a.options(), a.callback()
	generateID := options.generatesID()
	return operation{callback: callback, perform: func() (operationResult, error) {
		stored, err := x.collection.Create(item, generateID)
		return operationResult{status: statusCreated, item: stored}, err
	}}
}

func (x *execution) upsertDocument(a arguments) operation {
	a.checkCollectionLink(0)
	item, options, callback := a.item(1), a.options(), a.callback()
	generateID, ifMatch := options.generatesID(), options.text("etag")
	return operation{callback: callback, perform: func() (operationResult, error) {
		stored, created, err := x.collection.Upsert(item, generateID, ifMatch)
		if created {
			return operationResult{status: statusCreated, item: stored}, err
		}
		return operationResult{status: statusOK, item: stored}, err
	}}
}

func (x *execution) replaceDocument(a arguments) operation {
	link, item, options, callback := a.itemLink(0), a.item(1), a.options(), a.callback()
	ifMatch := options.text("etag")
	return operation{callback: callback, perform: func() (operationResult, error) {
		stored, err := x.collection.Replace(link, item, ifMatch)
		return operationResult{status: statusOK, item: stored}, err
	}}
}

func (x *execution) deleteDocument(a arguments) operation {
	link, options, callback := a.itemLink(0), a.options(), a.callback()
	ifMatch := options.text("etag")
	return operation{callback: callback, perform: func() (operationResult, error) {
		return operationResult{status: statusNoContent}, x.collection.Delete(link, ifMatch)
	}}
}
