package engine

import (
	"slices"
	"strings"

	"cosmosblog/engine/value"
)

// Paths that the service adds to an indexing policy (documentation of indexing policies): the
// root, if no path is included or excluded, and the etag, which is excluded unless it is included.
const (
	rootPath = "/*"
	etagPath = `/"_etag"/?`
)

// withDefaults completes a container's definition like the service: the kind of its partition
// key, and omitted parts of its indexing policy. It accepts any value; parseDefinition reports
// errors.
func withDefaults(resource value.Value) value.Value {
	if key := resource.Get("partitionKey"); key.Kind() == value.KindObject && key.Get("kind").IsUndefined() {
		resource = resource.With("partitionKey", key.With("kind", value.String("Hash")))
	}
	policy := resource.Get("indexingPolicy")
	if policy.Kind() != value.KindObject && !policy.IsUndefined() && policy.Kind() != value.KindNull {
		return resource
	}
	return resource.With("indexingPolicy", completedPolicy(policy))
}

// completedPolicy adds the defaults to an indexing policy, which may be missing.
func completedPolicy(policy value.Value) value.Value {
	mode, ok := policy.Get("indexingMode").AsString()
	if !ok {
		mode = "consistent"
	}
	mode = strings.ToLower(mode)
	indexes := mode != "none"
	automatic := policy.Get("automatic")
	if automatic.IsUndefined() {
		automatic = value.Bool(indexes)
	}
	included, _ := policy.Get("includedPaths").AsArray()
	excluded, _ := policy.Get("excludedPaths").AsArray()
	if indexes && len(included)+len(excluded) == 0 {
		included = []value.Value{pathOf(rootPath)}
	}
	if indexes && !hasPath(included, etagPath) && !hasPath(excluded, etagPath) {
		excluded = append(slices.Clip(excluded), pathOf(etagPath))
	}
	completed := value.Object([]string{"indexingMode", "automatic", "includedPaths", "excludedPaths"},
		[]value.Value{value.String(mode), automatic, value.Array(included), value.Array(excluded)})
	names, values, _ := policy.Members()
	for i, name := range names {
		if completed.Get(name).IsUndefined() {
			completed = completed.With(name, values[i])
		}
	}
	if composite, ok := policy.Get("compositeIndexes").AsArray(); ok {
		completed = completed.With("compositeIndexes", value.Array(withOrders(composite)))
	}
	return completed
}

func pathOf(path string) value.Value {
	return value.Object([]string{"path"}, []value.Value{value.String(path)})
}

// hasPath reports whether a list of {"path": …} objects contains a path.
func hasPath(list []value.Value, path string) bool {
	return slices.ContainsFunc(list, func(entry value.Value) bool {
		s, _ := entry.Get("path").AsString()
		return s == path
	})
}

// withOrders completes composite indexes: a path without an order is ascending.
func withOrders(composite []value.Value) []value.Value {
	indexes := make([]value.Value, len(composite))
	for i, index := range composite {
		paths, _ := index.AsArray()
		paths = slices.Clone(paths)
		for j, path := range paths {
			if path.Kind() == value.KindObject && path.Get("order").IsUndefined() {
				paths[j] = path.With("order", value.String("ascending"))
			}
		}
		indexes[i] = value.Array(paths)
	}
	return indexes
}
