package script

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"cosmosblog/engine/value"
)

// arguments are the arguments of a call to a method of the collection. The methods throw an
// Error with the number 400 if an argument is invalid. They copy the values out of the script,
// so later changes do not affect a queued operation.
type arguments struct {
	x        *execution
	values   []goja.Value
	required int // index of the options; the callback follows
}

func (a arguments) at(i int) goja.Value {
	if i < len(a.values) {
		return a.values[i]
	}
	return goja.Undefined()
}

// checkCollectionLink throws unless the argument is exactly one of the collection's two links.
// Equivalent links are rejected.
func (a arguments) checkCollectionLink(i int) {
	link := a.at(i).String()
	if !goja.IsString(a.at(i)) || !isCollectionLink(link) {
		a.x.throw(400, fmt.Sprintf("Invalid collection link: %q.", link))
	}
	if link != a.x.collection.SelfLink() && link != a.x.collection.AltLink() {
		a.throwForeign(link)
	}
}

func isCollectionLink(link string) bool {
	parts := strings.Split(strings.TrimSuffix(link, "/"), "/")
	return len(parts) == 4 && strings.EqualFold(parts[0], "dbs") && strings.EqualFold(parts[2], "colls")
}

// itemLink returns the link of an item in this collection, without a trailing slash.
func (a arguments) itemLink(i int) string {
	link := a.at(i).String()
	parts := strings.Split(strings.TrimSuffix(link, "/"), "/")
	isItem := len(parts) == 6 && isCollectionLink(strings.Join(parts[:4], "/")) && strings.EqualFold(parts[4], "docs")
	if !goja.IsString(a.at(i)) || !isItem || parts[5] == "" {
		a.x.throw(400, fmt.Sprintf("Invalid document link: %q.", link))
	}
	parent := strings.Join(parts[:4], "/")
	if parent != strings.TrimSuffix(a.x.collection.SelfLink(), "/") && parent != a.x.collection.AltLink() {
		a.throwForeign(link)
	}
	return parent + "/docs/" + parts[5]
}

func (a arguments) throwForeign(link string) {
	a.x.throw(400, fmt.Sprintf("Function is not allowed to operate on resources outside current collection. Make sure "+
		"that the link provided, %q, belongs to current collection.", link))
}

// item returns an item passed as an object or as JSON text.
func (a arguments) item(i int) value.Value {
	body := a.at(i)
	if goja.IsString(body) {
		item, err := value.Parse([]byte(body.String()))
		if err != nil {
			a.x.throwSyntaxError(err)
		}
		return item
	}
	if _, isObject := body.(*goja.Object); !isObject {
		a.throwBody()
	}
	item := a.x.fromScript(body)
	if item.IsUndefined() { // a function
		a.throwBody()
	}
	return item
}

func (a arguments) throwBody() {
	a.x.throw(400, "The document body must be an object or a string representing a JSON-serialized object.")
}

// throwType throws the error of an argument of the wrong type.
func (a arguments) throwType(parameter, wanted string, given goja.Value) {
	actual := typeOf(given)
	if goja.IsNull(given) {
		actual = "null" // whose typeof is "object"
	}
	a.x.throw(400, fmt.Sprintf(`The %q parameter must be of type %s. Actual type is: %q.`, parameter, wanted, actual))
}

// typeOf returns what the operator typeof returns.
func typeOf(v goja.Value) string {
	switch v := v.(type) {
	case goja.String:
		return "string"
	case *goja.Symbol:
		return "symbol"
	case *goja.Object:
		if _, isFunction := goja.AssertFunction(v); isFunction {
			return "function"
		}
		return "object"
	}
	switch {
	case goja.IsUndefined(v):
		return "undefined"
	case goja.IsNumber(v):
		return "number"
	case v.ExportType() != nil && v.ExportType().Kind() == reflect.Bool:
		return "boolean"
	}
	return "object"
}

// query returns a query as a JSON object. The argument may be that object or only the query's
// text.
func (a arguments) query(i int) []byte {
	switch query := a.at(i).(type) {
	case goja.String:
		text := value.Object([]string{"query"}, []value.Value{value.String(query.String())})
		return value.Text(text)
	case *goja.Object:
		if text := a.x.stringify(query); text != nil {
			return text
		}
	}
	a.throwType("filterQuery", `"string" or "object"`, a.at(i))
	return nil
}

// options returns the options argument. There are none if it is undefined or a callback takes
// its position.
func (a arguments) options() options {
	given := a.at(a.required)
	if goja.IsUndefined(given) || a.isCallbackInPlaceOfOptions() {
		return options{}
	}
	object, ok := given.(*goja.Object)
	if _, callable := goja.AssertFunction(given); !ok || callable {
		a.throwType("options", `"object"`, given)
	}
	return options{object}
}

// callback returns the function after the options or at their position, or nil.
func (a arguments) callback() goja.Callable {
	given := a.at(a.required + 1)
	if a.isCallbackInPlaceOfOptions() {
		given = a.at(a.required)
	}
	callback, ok := goja.AssertFunction(given)
	if !ok && !goja.IsUndefined(given) {
		a.throwType("callback", `"function"`, given)
	}
	return callback
}

func (a arguments) isCallbackInPlaceOfOptions() bool {
	_, callable := goja.AssertFunction(a.at(a.required))
	return callable && goja.IsUndefined(a.at(a.required+1))
}

// options are the options of an operation. Unknown options are ignored.
type options struct{ object *goja.Object }

func (o options) get(name string) goja.Value {
	if o.object != nil {
		if option := o.object.Get(name); option != nil {
			return option
		}
	}
	return goja.Undefined()
}

// text returns a string option, or "" if it is missing, null or otherwise falsy.
func (o options) text(name string) string {
	if option := o.get(name); option.ToBoolean() {
		return option.String()
	}
	return ""
}

// defaultPageSize is the number of items in a page unless the script sets pageSize (the
// service's wrapper script).
const defaultPageSize = 100

// pageSize returns the requested page size, or -1 if the collection chooses it. It throws 400 if
// the option is no number (dotnet-v3, EmulatorTests/HeadersValidationTests.cs, ValidatePageSize).
// Numbers in strings are accepted (assumed).
func (a arguments) pageSize(o options) int {
	given := o.get("pageSize")
	if given.ToBoolean() && math.IsNaN(given.ToFloat()) {
		a.x.throw(400, fmt.Sprintf(`The "pageSize" option must be a number. Actual value is: %q.`, given))
	}
	switch size := given.ToInteger(); {
	case size == 0:
		return defaultPageSize
	case size < 0:
		return -1
	default:
		return int(min(size, 1<<31-1))
	}
}

// generatesID reports whether an item without an id gets one. That is the default unless the
// script passes exactly true for disableAutomaticIdGeneration.
func (o options) generatesID() bool {
	disabled, _ := o.get("disableAutomaticIdGeneration").Export().(bool)
	return !disabled
}
