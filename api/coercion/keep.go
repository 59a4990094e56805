package coercion

import (
	"encoding/json"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// The memory in bytes that a value takes at most, besides its texts, and each member of a value.
// They include the copies of the value that Variables and gqlparser make. TestKeepIsCharged
// measures them.
const (
	bytesPerValue  = 640
	bytesPerMember = 160
)

// Keep returns the values of the variables that an operation declares, without all others. They
// share no memory with a request. bytes is the memory that they take at most. Values must be those
// of JSON.
func Keep(operation *ast.OperationDefinition, values map[string]any) (kept map[string]any, bytes int) {
	declared := make(map[string]any, len(operation.VariableDefinitions))
	for _, definition := range operation.VariableDefinitions {
		if value, ok := values[definition.Variable]; ok {
			declared[definition.Variable] = value
		}
	}
	if len(operation.VariableDefinitions) == 0 {
		return declared, 0
	}
	c := copier{bytes: len(operation.VariableDefinitions) * bytesPerMember} // those with a default, too
	return c.copied(declared).(map[string]any), c.bytes
}

// copier copies values of JSON, and counts the memory that they take.
type copier struct{ bytes int }

func (c *copier) copied(value any) any {
	switch v := value.(type) {
	case string:
		return c.text(v)
	case json.Number:
		return json.Number(c.text(string(v)))
	case []any:
		c.bytes += bytesPerValue
		list := make([]any, len(v))
		for i, element := range v {
			c.bytes += bytesPerMember
			list[i] = c.copied(element)
		}
		return list
	case map[string]any:
		c.bytes += bytesPerValue
		object := make(map[string]any, len(v))
		for name, member := range v {
			c.bytes += bytesPerMember
			object[c.text(name)] = c.copied(member)
		}
		return object
	}
	return value // a Boolean or null
}

func (c *copier) text(text string) string {
	c.bytes += len(text) + len(text)/4 // the allocator rounds up, to 8 KiB beyond 32 KiB
	return strings.Clone(text)
}
