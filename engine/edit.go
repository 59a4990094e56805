package engine

import (
	"strconv"

	"cosmosblog/engine/value"
)

// editor changes one property or element of a parent. name is the property's name, or the
// element's index in an array ("-": after the last).
type editor func(parent value.Value, name string) (value.Value, error)

// edit applies f to the parent of the path's last name, and returns the whole changed value.
func edit(v value.Value, path []string, f editor) (value.Value, error) {
	if len(path) == 1 {
		return f(v, path[0])
	}
	child := step(v, path[0])
	if child.IsUndefined() {
		return v, &missingParent{path[0]}
	}
	child, err := edit(child, path[1:], f)
	if err != nil {
		return v, err
	}
	if items, ok := v.AsArray(); ok {
		i, _ := elementNumber(path[0])
		changed := append([]value.Value(nil), items...)
		changed[i] = child
		return value.Array(changed), nil
	}
	return v.With(path[0], child), nil
}

func find(v value.Value, path []string) value.Value {
	for _, name := range path {
		v = step(v, name)
	}
	return v
}

func step(v value.Value, name string) value.Value {
	if v.Kind() == value.KindArray {
		if i, ok := elementNumber(name); ok {
			return v.At(i)
		}
		return value.Undefined
	}
	return v.Get(name)
}

// add sets a property, or inserts an element before an index.
func add(added value.Value) editor {
	return func(parent value.Value, name string) (value.Value, error) {
		items, ok := parent.AsArray()
		if !ok {
			return setProperty(parent, name, added)
		}
		i, err := position(items, name)
		if err != nil {
			return parent, err
		}
		changed := append(append(append([]value.Value(nil), items[:i]...), added), items[i:]...)
		return value.Array(changed), nil
	}
}

func remove(parent value.Value, name string) (value.Value, error) {
	if step(parent, name).IsUndefined() {
		return parent, errPath([]string{name})
	}
	items, ok := parent.AsArray()
	if !ok {
		return parent.With(name, value.Undefined), nil
	}
	i, _ := elementNumber(name) // valid: step has found the element
	return value.Array(append(append([]value.Value(nil), items[:i]...), items[i+1:]...)), nil
}

// replaceWith replaces a value. If missing is true, the value need not exist.
func replaceWith(f func(old value.Value) (value.Value, error), missing bool) editor {
	return func(parent value.Value, name string) (value.Value, error) {
		old := step(parent, name)
		if old.IsUndefined() && !missing {
			return parent, errPath([]string{name})
		}
		changed, err := f(old)
		if err != nil {
			return parent, err
		}
		items, ok := parent.AsArray()
		if !ok {
			return setProperty(parent, name, changed)
		}
		i, err := position(items, name)
		if err != nil {
			return parent, err
		}
		if i == len(items) {
			return add(changed)(parent, name)
		}
		copied := append([]value.Value(nil), items...)
		copied[i] = changed
		return value.Array(copied), nil
	}
}

func setProperty(parent value.Value, name string, v value.Value) (value.Value, error) {
	if parent.Kind() != value.KindObject {
		return parent, errPath([]string{name})
	}
	return parent.With(name, v), nil
}

// position returns the index of an element, or the index after the last.
func position(items []value.Value, name string) (int, error) {
	if name == "-" {
		return len(items), nil
	}
	i, ok := elementNumber(name)
	if !ok || i > len(items) {
		return 0, errPath([]string{name})
	}
	return i, nil
}

// elementNumber parses the index of an element: digits without a sign or leading zeros (RFC
// 6901).
func elementNumber(name string) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == name
}
