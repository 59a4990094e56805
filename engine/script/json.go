package script

import (
	"github.com/dop251/goja"

	"cosmosblog/engine/value"
)

// parse converts a JSON text to a value of the script.
func (x *execution) parse(text []byte) (goja.Value, error) {
	v, err := value.Parse(text)
	if err != nil {
		return nil, err
	}
	return x.toScript(v), nil
}

// toScript converts a JSON value to a new value of the script. Undefined stays undefined.
func (x *execution) toScript(v value.Value) goja.Value {
	switch v.Kind() {
	case value.KindNull:
		return goja.Null()
	case value.KindBool:
		return x.runtime.ToValue(v.IsTrue())
	case value.KindNumber:
		n, _ := v.AsNumber()
		return x.runtime.ToValue(n)
	case value.KindString:
		s, _ := v.AsString()
		return x.runtime.ToValue(s)
	case value.KindArray:
		items, _ := v.AsArray()
		return x.toArray(items)
	case value.KindObject:
		if x.ordinaryObjects || !fitsDocument(v) {
			return x.toObject(v)
		}
		return x.newDocument(v)
	}
	return goja.Undefined()
}

func (x *execution) toArray(items []value.Value) goja.Value {
	elements := make([]any, len(items))
	for i, item := range items {
		elements[i] = x.toScript(item)
	}
	return x.runtime.NewArray(elements...)
}

// toObject returns an ordinary object.
func (x *execution) toObject(v value.Value) goja.Value {
	names, items, _ := v.Members()
	object := x.runtime.CreateObject(nil) // without a prototype, Set calls no setter
	for i, name := range names {
		object.Set(name, x.toScript(items[i]))
	}
	if x.prototype == nil {
		x.prototype = x.runtime.NewObject().Prototype()
	}
	object.SetPrototype(x.prototype)
	return object
}

// set defines an own property of an object. Object.Set would call a setter of the prototype,
// such as that of __proto__.
func (x *execution) set(object *goja.Object, name string, property any) {
	object.DefineDataProperty(name, x.runtime.ToValue(property), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}
