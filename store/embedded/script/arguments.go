package script

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"cosmosblog/store/embedded/value"
)

// arguments are those of one call of a collection's method. Its methods throw an Error with the number 400 where an
// argument is not what it has to be. What they give back is taken out of the script's values at once, so that changes
// the script makes later do not reach a queued operation.
type arguments struct {
	x        *execution
	values   []goja.Value
	required int // the options are at this place, and the callback behind them
}

func (a arguments) at(i int) goja.Value {
	if i < len(a.values) {
		return a.values[i]
	}
	return goja.Undefined()
}

// checkCollectionLink lets pass the two links of the collection, and none that merely mean the same.
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
	return len(parts) == 4 && parts[0] == "dbs" && parts[2] == "colls"
}

// itemLink is the link of an item in this collection: six segments, and perhaps a slash at its end.
func (a arguments) itemLink(i int) string {
	link := a.at(i).String()
	parts := strings.Split(strings.TrimSuffix(link, "/"), "/")
	if !goja.IsString(a.at(i)) || len(parts) != 6 || parts[0] != "dbs" || parts[2] != "colls" || parts[4] != "docs" || parts[5] == "" {
		a.x.throw(400, fmt.Sprintf("Invalid document link: %q.", link))
	}
	parent := strings.Join(parts[:4], "/")
	if parent != strings.TrimSuffix(a.x.collection.SelfLink(), "/") && parent != a.x.collection.AltLink() {
		a.throwForeign(link)
	}
	return link
}

func (a arguments) throwForeign(link string) {
	a.x.throw(400, fmt.Sprintf("Function is not allowed to operate on resources outside current collection. Make sure "+
		"that the link provided, %q, belongs to current collection.", link))
}

// item is the JSON of an item that is given as an object or as JSON.
func (a arguments) item(i int) []byte {
	body := a.at(i)
	if _, isObject := body.(*goja.Object); !isObject && !goja.IsString(body) {
		a.throwBody()
	}
	if goja.IsString(body) {
		text := []byte(body.String())
		if _, err := value.Parse(text); err != nil {
			a.x.throwSyntaxError(err)
		}
		return text
	}
	text := a.x.stringify(body)
	if text == nil { // a function
		a.throwBody()
	}
	return text
}

func (a arguments) throwBody() {
	a.x.throw(400, "The document body must be an object or a string representing a JSON-serialized object.")
}

// query is a query as the JSON of an object, whether it is given as that or as its text alone.
func (a arguments) query(i int) []byte {
	switch query := a.at(i).(type) {
	case goja.String:
		text := value.Object([]string{"query"}, []value.Value{value.String(query.String())})
		return value.Append(nil, text)
	case *goja.Object:
		if text := a.x.stringify(query); text != nil {
			return text
		}
	}
	a.x.throw(400, `The "filterQuery" parameter must be of type "string" or "object".`)
	return nil
}

// options is the object at the place of the options, or none: undefined, or a callback in their place.
func (a arguments) options() options {
	given := a.at(a.required)
	if goja.IsUndefined(given) || a.isCallbackInPlaceOfOptions() {
		return options{}
	}
	object, ok := given.(*goja.Object)
	if _, callable := goja.AssertFunction(given); !ok || callable {
		a.x.throw(400, fmt.Sprintf(`The "options" parameter must be of type "object". Actual value is: %q.`, given))
	}
	return options{object}
}

// callback is the function behind the options or in their place, or nil.
func (a arguments) callback() goja.Callable {
	given := a.at(a.required + 1)
	if a.isCallbackInPlaceOfOptions() {
		given = a.at(a.required)
	}
	callback, ok := goja.AssertFunction(given)
	if !ok && !goja.IsUndefined(given) {
		a.x.throw(400, fmt.Sprintf(`The "callback" parameter must be of type "function". Actual value is: %q.`, given))
	}
	return callback
}

func (a arguments) isCallbackInPlaceOfOptions() bool {
	_, callable := goja.AssertFunction(a.at(a.required))
	return callable && goja.IsUndefined(a.at(a.required+1))
}

// options are an operation's. What is not known is not looked at.
type options struct{ object *goja.Object }

func (o options) get(name string) goja.Value {
	if o.object != nil {
		if option := o.object.Get(name); option != nil {
			return option
		}
	}
	return goja.Undefined()
}

// text is a string option, "" where it is not there, null or otherwise false.
func (o options) text(name string) string {
	if option := o.get(name); option.ToBoolean() {
		return option.String()
	}
	return ""
}

// defaultPageSize is how many items a page has where the script does not say (the service's wrapper script).
const defaultPageSize = 100

// pageSize is at least 1, or -1 for as many as the collection likes.
func (o options) pageSize() int {
	switch size := o.get("pageSize").ToInteger(); {
	case size == 0:
		return defaultPageSize
	case size < 0:
		return -1
	default:
		return int(min(size, 1<<31-1))
	}
}

// generatesID tells whether an item without an id gets one: unless the script says exactly true to the contrary.
func (o options) generatesID() bool {
	disabled, _ := o.get("disableAutomaticIdGeneration").Export().(bool)
	return !disabled
}
