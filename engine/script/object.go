package script

import (
	"maps"
	"slices"

	"github.com/dop251/goja"
)

type function = func(goja.FunctionCall) goja.Value

// object is a host object whose functions are created when the script first reads them. A script
// uses only a few of them, and creating one takes a third of a microsecond. To a script, it is
// an ordinary object. It implements goja.DynamicObject.
type object struct {
	runtime *goja.Runtime
	names   []string              // of the functions
	find    func(string) function // returns the function of a name in names
	own     map[string]goja.Value // functions that were read, and properties that the script set; nil if deleted
}

// newObject creates an object with functions of the given names. find returns the function of a
// name.
func (x *execution) newObject(names []string, find func(string) function) *goja.Object {
	return x.runtime.NewDynamicObject(&object{x.runtime, names, find, nil})
}

// Get returns a property, or nil.
func (o *object) Get(name string) goja.Value {
	if v, ok := o.own[name]; ok || !slices.Contains(o.names, name) {
		return v
	}
	v := o.runtime.ToValue(o.find(name))
	o.keep(name, v)
	return v
}

func (o *object) keep(name string, v goja.Value) {
	if o.own == nil {
		o.own = map[string]goja.Value{}
	}
	o.own[name] = v
}

// Set sets a property. The script may set any property.
func (o *object) Set(name string, v goja.Value) bool {
	o.keep(name, v)
	return true
}

// Has reports whether a property exists.
func (o *object) Has(name string) bool {
	v, ok := o.own[name]
	return v != nil || !ok && slices.Contains(o.names, name)
}

// Delete removes a property, whether or not it was created.
func (o *object) Delete(name string) bool {
	o.keep(name, nil)
	return true
}

// Keys returns the names of the functions, followed by those of other properties.
func (o *object) Keys() []string {
	keys := slices.Clone(o.names)
	for _, name := range slices.Sorted(maps.Keys(o.own)) {
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return slices.DeleteFunc(keys, func(name string) bool { return !o.Has(name) })
}
