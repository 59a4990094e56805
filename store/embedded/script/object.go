package script

import (
	"maps"
	"slices"

	"github.com/dop251/goja"
)

type function = func(goja.FunctionCall) goja.Value

// object is an object of the host's with functions that are made when the script first asks for them: a script uses few
// of them, and making one takes a third of a microsecond. To a script it is an object like any other. It implements
// goja.DynamicObject.
type object struct {
	runtime *goja.Runtime
	names   []string              // of its functions
	find    func(string) function // nil where names lacks it
	own     map[string]goja.Value // what was made, and what the script set; nil: deleted
}

// newObject makes an object of the functions that find knows by names.
func (x *execution) newObject(names []string, find func(string) function) *goja.Object {
	return x.runtime.NewDynamicObject(&object{x.runtime, names, find, map[string]goja.Value{}})
}

// Get gives a property, or nil.
func (o *object) Get(name string) goja.Value {
	if v, ok := o.own[name]; ok || !slices.Contains(o.names, name) {
		return v
	}
	v := o.runtime.ToValue(o.find(name))
	o.own[name] = v
	return v
}

// Set lets the script put what it likes on the object.
func (o *object) Set(name string, v goja.Value) bool {
	o.own[name] = v
	return true
}

// Has tells whether there is a property.
func (o *object) Has(name string) bool {
	v, ok := o.own[name]
	return v != nil || !ok && slices.Contains(o.names, name)
}

// Delete removes a property, also one that was not made yet.
func (o *object) Delete(name string) bool {
	o.own[name] = nil
	return true
}

// Keys are the names of the functions, then those of what the script added.
func (o *object) Keys() []string {
	keys := slices.Clone(o.names)
	for _, name := range slices.Sorted(maps.Keys(o.own)) {
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return slices.DeleteFunc(keys, func(name string) bool { return !o.Has(name) })
}
