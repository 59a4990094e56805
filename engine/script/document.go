package script

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"cosmosblog/engine/value"
)

// document is a JSON object as a script sees it: an item, an argument or a part of one. Its
// properties become values of the script when the script first reads them. A script reads only
// some of them, and passes most items on with few changes. It implements goja.DynamicObject.
//
// To a script, it is an ordinary object, with three exceptions: it has no properties named by
// symbols, none with accessors or attributes, and it cannot be frozen. Programs that may notice
// get ordinary objects (Program.ordinaryObjects).
type document struct {
	x      *execution
	source value.Value           // the JSON object, which never changes
	names  []string              // of the properties, in the order of their creation
	grown  bool                  // names is not the source's own slice
	own    map[string]goja.Value // properties that the script set, or read as objects; nil if deleted
}

var documentType = reflect.TypeFor[*document]()

// maxDocument is the maximum number of properties of a document. Finding a property takes time in
// proportion to it. Larger objects are ordinary ones.
const maxDocument = 64

// documentOf returns the document that a script's object is, or nil.
func documentOf(object *goja.Object) *document {
	if object.ExportType() != documentType {
		return nil
	}
	return object.Export().(*document)
}

// fitsDocument reports whether a JSON object can be a document. JavaScript moves array indexes to
// the front of an object, so objects with one, and objects around them, are ordinary ones.
func fitsDocument(v value.Value) bool { return v.Len() <= maxDocument && !hasIndex(v) }

func hasIndex(v value.Value) bool {
	if kind := v.Kind(); kind != value.KindArray && kind != value.KindObject {
		return false
	}
	names, items, isObject := v.Members()
	if !isObject {
		items, _ = v.AsArray()
	}
	return slices.ContainsFunc(names, isIndex) || slices.ContainsFunc(items, hasIndex)
}

// newDocument returns a new object of the script for a JSON object.
func (x *execution) newDocument(v value.Value) *goja.Object {
	names, _, _ := v.Members()
	return x.runtime.NewDynamicObject(&document{x: x, source: v, names: names})
}

// Get returns a property, or nil. An object is the same one at every call.
func (d *document) Get(name string) goja.Value {
	if v, ok := d.own[name]; ok {
		return v
	}
	item := d.source.Get(name)
	if item.IsUndefined() {
		return nil
	}
	v := d.x.toScript(item)
	if _, isObject := v.(*goja.Object); isObject {
		d.keep(name, v)
	}
	return v
}

// Has reports whether a property exists.
func (d *document) Has(name string) bool {
	if v, ok := d.own[name]; ok {
		return v != nil
	}
	return !d.source.Get(name).IsUndefined()
}

// Set sets a property. A new one is added at the end.
func (d *document) Set(name string, v goja.Value) bool {
	if !d.Has(name) {
		if !d.grown {
			d.names, d.grown = slices.Clone(d.names), true
		}
		d.names = append(d.names, name)
	}
	d.keep(name, v)
	return true
}

// Delete removes a property.
func (d *document) Delete(name string) bool {
	if d.Has(name) {
		at := slices.Index(d.names, name)
		d.names, d.grown = slices.Concat(d.names[:at], d.names[at+1:]), true // a loop may have the old slice
		d.keep(name, nil)
	}
	return true
}

func (d *document) keep(name string, v goja.Value) {
	if d.own == nil {
		d.own = map[string]goja.Value{}
	}
	d.own[name] = v
}

// Keys returns the names of the properties in JavaScript's order: array indexes in ascending
// order, then the others in the order of their creation. The caller must not change the slice.
func (d *document) Keys() []string {
	if !slices.ContainsFunc(d.names, isIndex) {
		return d.names
	}
	keys := slices.Clone(d.names)
	slices.SortStableFunc(keys, func(a, b string) int {
		switch {
		case isIndex(a) && isIndex(b):
			return compareIndexes(a, b)
		case isIndex(a):
			return -1
		case isIndex(b):
			return 1
		}
		return 0
	})
	return keys
}

// isIndex reports whether a name is an array index: an integer below 2^32-1 in its shortest form
// (ECMAScript, "array index").
func isIndex(name string) bool {
	if name == "" || name[0] < '0' || name[0] > '9' {
		return false
	}
	n, err := strconv.ParseUint(name, 10, 32)
	return err == nil && n < 1<<32-1 && (name[0] != '0' || len(name) == 1)
}

// compareIndexes compares two array indexes by their numbers.
func compareIndexes(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
