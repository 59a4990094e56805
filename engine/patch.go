package engine

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"cosmosblog/engine/query"
	"cosmosblog/engine/value"
)

// patch is a partial update with up to ten operations. They are applied in order, all or none.
type patch struct {
	condition  *query.Bound // nil if there is none
	operations []patchOperation
}

type patchOperation struct {
	op    string // add, set, replace, remove, incr, move
	path  []string
	from  []string
	value value.Value
}

// parsePatch parses {"condition": "from c where …", "operations": [{"op", "path", "value"}]}.
// Without a condition, it also accepts the bare list of operations, which the JavaScript SDK
// sends. Error: 400.
func parsePatch(body value.Value) (patch, error) {
	var p patch
	if text, ok := body.Get("condition").AsString(); ok && text != "" {
		condition, err := query.ParseCondition(text)
		if err != nil {
			return p, badRequest("The condition of the patch is invalid: %v.", err)
		}
		if p.condition, err = condition.Bind(nil); err != nil {
			return p, badRequest("The condition of the patch is invalid: %v.", err)
		}
	}
	operations, ok := body.AsArray()
	if !ok {
		operations, _ = body.Get("operations").AsArray()
	}
	if len(operations) == 0 || len(operations) > maxPatchOperations {
		return p, badRequest("A patch must have 1 to %d operations.", maxPatchOperations)
	}
	for _, o := range operations {
		operation, err := parsePatchOperation(o)
		if err != nil {
			return p, err
		}
		p.operations = append(p.operations, operation)
	}
	return p, nil
}

func parsePatchOperation(v value.Value) (o patchOperation, err error) {
	op, _ := v.Get("op").AsString()
	o.op = strings.ToLower(op)
	o.value = v.Get("value")
	if o.path, err = parsePointer(v.Get("path")); err != nil {
		return o, err
	}
	switch o.op {
	case "add", "set", "replace":
		if o.value.IsUndefined() {
			return o, badRequest("The patch operation '%s' needs a value.", o.op)
		}
	case "incr":
		if o.value.Kind() != value.KindNumber {
			return o, badRequest("The patch operation 'incr' needs a number.")
		}
	case "move":
		o.from, err = parsePointer(v.Get("from"))
	case "remove":
	default:
		err = badRequest("The patch operation '%s' is unknown.", op)
	}
	return o, err
}

// maxNumberDigits is the number of digits of the longest name that consists of digits: it could be
// the number of an element (azure-cosmos-dotnet-v3#4817 and #5154, also for the message).
const maxNumberDigits = 19

// parsePointer parses a JSON pointer (RFC 6901). It rejects the pointer to the whole item, and a
// tilde without its digit (azure-cosmos-dotnet-v3#2921, also for the message).
func parsePointer(v value.Value) ([]string, error) {
	text, ok := v.AsString()
	if !ok || len(text) < 2 || text[0] != '/' {
		return nil, badRequest("The path of a patch operation must begin with '/' and name a property.")
	}
	names := strings.Split(text[1:], "/")
	for i, name := range names {
		for rest := name; strings.Contains(rest, "~"); {
			if _, rest, _ = strings.Cut(rest, "~"); rest == "" || rest[0] != '0' && rest[0] != '1' {
				return nil, badRequest("%s", errorsMessage("One of the specified inputs is invalid"))
			}
		}
		if len(name) > maxNumberDigits && strings.Trim(name, "0123456789") == "" {
			return nil, badRequest("Token('%s') has length longer than expected.", name)
		}
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	if len(names) == 1 && systemProperties[names[0]] {
		return nil, badRequest("The system property '%s' cannot be patched.", names[0])
	}
	return names, nil
}

// applies reports whether an item meets the patch's condition.
func (p patch) applies(item value.Value) bool { return p.condition == nil || p.condition.Matches(item) }

// apply returns the item after the operations. It returns a 400 error if a path does not exist.
func (p patch) apply(item value.Value) (value.Value, error) {
	var err error
	for i, o := range p.operations {
		if o.op == "move" {
			item, err = o.move(item)
		} else {
			item, err = edit(item, o.path, o.editor())
		}
		if err != nil {
			if missing, ok := errors.AsType[*missingParent](err); ok {
				err = o.errParent(i+1, missing.name)
			}
			return item, err
		}
	}
	return item, nil
}

// missingParent is the error about a path whose parent does not exist.
type missingParent struct{ name string }

func (m *missingParent) Error() string { return "no " + m.name }

// errParent is the error of the operation with a number about a parent that does not exist. The
// text of add is the service's (dotnet-v3, EmulatorTests/CosmosItemTests.cs, ItemPatchFailureTest).
func (o patchOperation) errParent(number int, name string) error {
	if o.op != "add" && o.op != "set" {
		return errPath(o.path)
	}
	return badRequest("For Operation(%d): %s Operation can only create a child object of an existing node(array or object) and cannot create path recursively, no path found beyond: '%s'. Learn more: https://aka.ms/cosmosdbpatchdocs",
		number, strings.ToUpper(o.op[:1])+o.op[1:], name)
}

// move adds a value at its new place, and then removes it from its old one. Within an array,
// numbers are those of before, so an element that moves behind others arrives one place earlier
// than RFC 6902 says, which removes it first (azure-cosmos-dotnet-v3#3262 and #5419).
func (o patchOperation) move(item value.Value) (value.Value, error) {
	moved := find(item, o.from)
	switch {
	case moved.IsUndefined():
		return item, errPath(o.from)
	case slices.Equal(o.from, o.path):
		return item, nil
	case beginsWith(o.path, o.from):
		return item, badRequest("The patch operation 'move' cannot move '/%s' into itself.", strings.Join(o.from, "/"))
	}
	last := len(o.path) - 1
	parent := find(item, o.path[:last])
	item, err := edit(item, o.path, add(moved))
	if err != nil {
		return item, err
	}
	from := o.from
	if to, ok := elementNumber(o.path[last]); ok && parent.Kind() == value.KindArray && beginsWith(from, o.path[:last]) {
		if at, _ := elementNumber(from[last]); at >= to {
			from = slices.Clone(from)
			from[last] = strconv.Itoa(at + 1)
		}
	} else if beginsWith(from, o.path) {
		return item, nil // overwritten
	}
	return edit(item, from, remove)
}

func beginsWith(path, prefix []string) bool {
	return len(path) > len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

func (o patchOperation) editor() editor {
	switch o.op {
	case "add":
		return add(o.value)
	case "remove":
		return remove
	case "replace":
		return replaceWith(func(old value.Value) (value.Value, error) { return o.value, nil }, false)
	case "incr":
		return replaceWith(o.increment, true)
	}
	return replaceWith(func(value.Value) (value.Value, error) { return o.value, nil }, true)
}

// increment adds up integers exactly, within 64 bits, and other numbers as doubles. So does the
// service's Rust driver, which applies the documented operations itself
// (Azure/azure-sdk-for-rust, azure_data_cosmos_driver/src/driver/pipeline/patch_eval.rs).
func (o patchOperation) increment(old value.Value) (value.Value, error) {
	if old.IsUndefined() {
		return o.value, nil
	}
	n, ok := old.AsNumber()
	if !ok {
		return old, badRequest("The patch operation 'incr' at '/%s' needs a number there.", strings.Join(o.path, "/"))
	}
	by, _ := o.value.AsNumber()
	sum := value.Number(n + by)
	a, first := old.AsInteger()
	b, second := o.value.AsInteger()
	overflows := (a+b < a) != (b < 0)
	if first && second {
		sum = value.Integer(a + b)
	}
	if first && second && overflows || math.IsInf(n+by, 0) {
		return old, badRequest("The patch operation 'incr' at '/%s' results in a number out of range.", strings.Join(o.path, "/"))
	}
	return sum, nil
}

func errPath(path []string) error {
	return badRequest("The path '/%s' of a patch operation does not exist.", strings.Join(path, "/"))
}
