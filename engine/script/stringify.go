package script

import (
	"math"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"cosmosblog/engine/value"
)

// fromScript converts a value of the script to the JSON value that JSON.stringify would write,
// even if the script replaced that function. It returns Undefined if JSON cannot represent the
// value.
//
// It throws errors of toJSON and getters. It throws a TypeError for a cycle, a bigint, or a
// value nested more deeply than an item may be. A lone surrogate becomes U+FFFD, as in a stored
// item.
//
// goja's own function cannot be interrupted and writes strings character by character, and an
// item would have to be parsed again.
func (x *execution) fromScript(v goja.Value) value.Value {
	c := converter{x: x, runtime: x.runtime}
	return c.convert("", v)
}

// stringify returns the text of fromScript, or nil if JSON cannot represent the value.
func (x *execution) stringify(v goja.Value) []byte {
	converted := x.fromScript(v)
	if converted.IsUndefined() {
		return nil
	}
	return value.Text(converted)
}

// exceeds reports whether the text of fromScript is longer than limit bytes.
func (x *execution) exceeds(v goja.Value, limit int) bool {
	c := converter{x: x, runtime: x.runtime}
	converted := c.convert("", v)
	if c.length <= limit/maxExpansion {
		return false
	}
	return !converted.IsUndefined() && len(value.Text(converted)) > limit
}

// maxExpansion is the maximum ratio of a text's length to converter.length. A number counts as one
// byte and takes at most 25; a byte of a string takes at most six.
const maxExpansion = 25

// maxTextLength exceeds the maximum size of an item, body or query, in bytes. Longer results throw
// the error for a body that is too large. An array with too many elements, such as new
// Array(1e9), throws it before its elements are read.
const maxTextLength = 16 << 20

type converter struct {
	x       *execution
	runtime *goja.Runtime
	length  int            // least length of the text of what was converted
	within  []*goja.Object // objects being converted, to detect cycles
}

// add counts bytes of the text.
func (c *converter) add(bytes int) {
	if c.length += bytes; c.length > maxTextLength {
		c.x.throwTooLarge(c.x.options.MaxBody)
	}
}

// convert converts v, the value of a property with the given key.
func (c *converter) convert(key string, v goja.Value) value.Value {
	if object, ok := v.(*goja.Object); ok {
		v = c.replaced(key, object)
	}
	switch v := v.(type) {
	case *goja.Object:
		return c.object(v)
	case goja.String:
		text := v.String()
		c.add(len(text) + len(`""`))
		return value.String(text)
	case *goja.Symbol, nil:
		return value.Undefined
	}
	c.add(1)
	switch {
	case goja.IsUndefined(v):
		return value.Undefined
	case goja.IsNull(v):
		return value.Null
	case goja.IsNumber(v):
		return number(v.ToFloat())
	case goja.IsBigInt(v):
		panic(c.runtime.NewTypeError("Do not know how to serialize a BigInt"))
	}
	return value.Bool(v.ToBoolean())
}

// replaced returns the value to convert for an object: the result of its toJSON, or the scalar in
// a wrapper object.
func (c *converter) replaced(key string, object *goja.Object) goja.Value {
	var v goja.Value = object
	if toJSON, ok := goja.AssertFunction(object.Get("toJSON")); ok {
		result, err := toJSON(object, c.runtime.ToValue(key))
		if err != nil {
			panic(err)
		}
		v = result
	}
	if object, ok := v.(*goja.Object); ok {
		switch object.ClassName() {
		case "Number":
			return object.ToNumber()
		case "String":
			return object.ToString()
		case "Boolean":
			return c.runtime.ToValue(object.Export())
		}
	}
	return v
}

// number returns the JSON value of a number. JSON has neither NaN, infinity nor minus zero.
func number(n float64) value.Value {
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return value.Null
	case n == 0:
		return value.Number(0)
	}
	return value.Script(n)
}

func (c *converter) object(object *goja.Object) value.Value {
	if _, callable := goja.AssertFunction(object); callable {
		return value.Undefined
	}
	if slices.Contains(c.within, object) {
		panic(c.runtime.NewTypeError("Converting circular structure to JSON"))
	}
	c.checkDepth(len(c.within))
	if d := documentOf(object); d != nil && d.own == nil {
		c.addValue(d.source, len(c.within))
		return value.Scripted(d.source)
	}
	c.add(len("{}"))
	c.within = append(c.within, object)
	convert := c.properties
	if object.ClassName() == "Array" {
		convert = c.elements
	}
	converted := convert(object)
	c.within = c.within[:len(c.within)-1]
	return converted
}

func (c *converter) elements(array *goja.Object) value.Value {
	length := int(array.Get("length").ToInteger())
	if length > maxTextLength/2 { // an element takes at least two bytes with its comma
		c.x.throwTooLarge(c.x.options.MaxBody)
	}
	var items []value.Value
	for i := range length {
		key := strconv.Itoa(i)
		item := c.convert(key, array.Get(key))
		if item.IsUndefined() {
			item = value.Null
		}
		c.add(len(","))
		items = append(items, item)
	}
	return value.Array(items)
}

func (c *converter) properties(object *goja.Object) value.Value {
	d, keys := documentOf(object), []string(nil)
	if d == nil {
		keys = object.Keys()
	} else {
		keys = slices.Clone(d.Keys())
	}
	names, values := keys[:0], make([]value.Value, 0, len(keys))
	for _, name := range keys {
		v := c.property(object, d, name)
		if !v.IsUndefined() {
			c.add(len(name) + len(`"":,`))
			names, values = append(names, name), append(values, v)
		}
	}
	return value.Object(names, values)
}

// property converts a property of an object, which is the document d unless that is nil.
func (c *converter) property(object *goja.Object, d *document, name string) value.Value {
	if d != nil {
		if _, ok := d.own[name]; !ok {
			v := d.source.Get(name)
			c.addValue(v, len(c.within))
			return value.Scripted(v)
		}
	}
	return c.convert(name, object.Get(name))
}

// addValue does what convert does for a value that only needs value.Scripted, in so many objects
// and arrays.
func (c *converter) addValue(v value.Value, depth int) {
	switch v.Kind() {
	case value.KindUndefined:
	case value.KindString:
		text, _ := v.AsString()
		c.add(len(text) + len(`""`))
	case value.KindArray:
		c.checkDepth(depth)
		c.add(len("{}"))
		items, _ := v.AsArray()
		for _, item := range items {
			c.addValue(item, depth+1)
			c.add(len(","))
		}
	case value.KindObject:
		c.checkDepth(depth)
		c.add(len("{}"))
		names, items, _ := v.Members()
		for i, item := range items {
			c.addValue(item, depth+1)
			c.add(len(names[i]) + len(`"":,`))
		}
	default:
		c.add(1)
	}
}

// checkDepth throws if a value is in too many objects and arrays.
func (c *converter) checkDepth(depth int) {
	if depth > value.MaxDepth {
		panic(c.runtime.NewTypeError("The value is nested too deeply"))
	}
}
