package coercion_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/api/coercion"
)

func heapBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestKeepIsCharged compares the memory that kept variables take with what is counted, and checks
// that those that are not declared take none.
func TestKeepIsCharged(t *testing.T) {
	object := map[string]any{}
	for i := range 50 {
		object[fmt.Sprint("member", i)] = json.Number("1")
	}
	shapes := map[string]any{
		"a number":      json.Number("12"),
		"a short text":  "x",
		"a long text":   strings.Repeat("x", 33<<10),
		"null":          nil,
		"a list":        []any{"a", "b", "c"},
		"a long list":   make([]any, 1000),
		"an object":     object,
		"deep objects":  map[string]any{"a": map[string]any{"b": map[string]any{"c": map[string]any{}}}},
		"empty objects": []any{map[string]any{}, map[string]any{}, []any{}},
	}
	for name, value := range shapes {
		for _, declared := range []int{1, 3, 60} {
			operation := new(ast.OperationDefinition)
			values := map[string]any{"large": strings.Repeat("y", 1<<20)}
			for i := range declared {
				variable := fmt.Sprint("v", i)
				operation.VariableDefinitions = append(operation.VariableDefinitions, &ast.VariableDefinition{Variable: variable})
				values[variable] = value
			}
			const count = 20
			kept, charged := make([]map[string]any, count), 0
			before := heapBytes()
			for i := range kept {
				var bytes int
				kept[i], bytes = coercion.Keep(operation, values)
				charged += bytes
			}
			taken := heapBytes() - before
			if taken > charged {
				t.Errorf("%d of %s: %d bytes are counted, %d are taken", declared, name, charged/count, taken/count)
			}
			runtime.KeepAlive(kept)
			runtime.KeepAlive(values)
		}
	}
	if kept, bytes := coercion.Keep(new(ast.OperationDefinition), map[string]any{"large": "y"}); len(kept) != 0 || bytes != 0 {
		t.Errorf("without variables: %v, %d bytes", kept, bytes)
	}
}
