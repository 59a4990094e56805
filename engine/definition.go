package engine

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"cosmosblog/engine/value"
)

// definition holds the parts of a container's definition that the engine acts on. The
// container's resource keeps the complete definition.
type definition struct {
	ID           string `json:"id"`
	PartitionKey struct {
		Paths   []string `json:"paths"`
		Kind    string   `json:"kind"`
		Version int      `json:"version"`
	} `json:"partitionKey"`
	DefaultTTL     *int `json:"defaultTtl"`
	IndexingPolicy struct {
		IndexingMode  string `json:"indexingMode"`
		Automatic     *bool  `json:"automatic"` // no effect
		IncludedPaths []struct {
			Path string `json:"path"`
		} `json:"includedPaths"`
		ExcludedPaths []struct {
			Path string `json:"path"`
		} `json:"excludedPaths"`
		CompositeIndexes [][]struct {
			Path  string `json:"path"`
			Order string `json:"order"`
		} `json:"compositeIndexes"`
	} `json:"indexingPolicy"`
	UniqueKeyPolicy struct {
		UniqueKeys []json.RawMessage `json:"uniqueKeys"`
	} `json:"uniqueKeyPolicy"`

	// splitsQuotes is set for containers of earlier versions, which divided a path at every slash,
	// also within quotes. Their items and indexes are stored by what that made of it.
	splitsQuotes bool
}

// readDefinition decodes a container's definition without checking it.
func readDefinition(resource value.Value) (definition, error) {
	var d definition
	if err := json.Unmarshal(value.Text(resource), &d); err != nil {
		return d, badRequest("The definition of the container is invalid: %v.", err)
	}
	d.ID, _ = resource.Get("id").AsString() // encoding/json would accept "ID" as well
	d.PartitionKey.Kind = cmp.Or(d.PartitionKey.Kind, "Hash")
	d.PartitionKey.Version = cmp.Or(d.PartitionKey.Version, 1)
	return d, nil
}

// parseDefinition decodes and checks a container's definition. It rejects features that the
// engine lacks.
func parseDefinition(resource value.Value) (definition, error) {
	d, err := readDefinition(resource)
	switch {
	case err != nil:
		return d, err
	case len(d.PartitionKey.Paths) == 0:
		return d, badRequest("A container needs a partition key definition.")
	case len(d.PartitionKey.Paths) > 1 || d.PartitionKey.Kind == "MultiHash":
		return d, badRequest("Hierarchical partition keys are not supported by this engine.")
	case d.PartitionKey.Kind != "Hash":
		return d, badRequest("The partition key kind must be Hash.")
	case d.PartitionKey.Version != 1 && d.PartitionKey.Version != 2:
		return d, badRequest("The version of the partition key must be 1 or 2.")
	case len(d.UniqueKeyPolicy.UniqueKeys) > 0:
		return d, badRequest("Unique keys are not supported by this engine.")
	case d.DefaultTTL != nil && (*d.DefaultTTL == 0 || *d.DefaultTTL < -1 || *d.DefaultTTL > maxTTL):
		return d, badRequest("The defaultTtl must be -1 or a number of seconds from 1 to %d.", maxTTL)
	}
	if err := d.checkPolicy(); err != nil {
		return d, err
	}
	return d, checkParts(resource)
}

// ranges returns the number of physical ranges for a throughput. Containers with version 1 of
// the partition key hash have one range, because SDKs would compute other ranges than the
// engine.
func (d definition) ranges(t throughput) int {
	if d.PartitionKey.Version != 2 {
		return 1
	}
	return t.ranges()
}

// checkName applies the service's rule to the name of a database, container or script.
func checkName(name string) error {
	switch {
	case name == "":
		return badRequest("The input content is invalid because the required properties - 'id; ' - are missing")
	case len(name) > maxNameLength || strings.ContainsAny(name, "/\\?#") || strings.HasSuffix(name, " "):
		return badRequest("The id must have at most %d characters, none of them '/', '\\', '?' or '#', and not end with a space.", maxNameLength)
	}
	return nil
}

// exclusion is the set of properties, with everything below them, that an indexing policy
// excludes.
type exclusion struct {
	names  map[string]bool // top-level properties, including system properties
	paths  [][]string      // nested properties
	all    bool            // everything is excluded,
	except [][]string      // except these paths
	none   bool            // there is no index at all
}

func (d definition) excludedPaths() exclusion {
	none := strings.EqualFold(d.IndexingPolicy.IndexingMode, "none")
	x := exclusion{all: none, none: none, names: maps.Clone(systemProperties)}
	if none {
		return x
	}
	for _, excluded := range d.IndexingPolicy.ExcludedPaths {
		x.all = x.all || excluded.Path == rootPath || excluded.Path == "/"
		names, err := d.parsePath(strings.TrimSuffix(excluded.Path, "/*"))
		switch {
		case err != nil:
		case len(names) == 1:
			x.names[names[0]] = true
		default:
			x.paths = append(x.paths, names)
		}
	}
	for _, included := range d.IndexingPolicy.IncludedPaths {
		if names, err := d.parsePath(strings.TrimSuffix(included.Path, "/*")); err == nil && !systemProperties[names[0]] {
			x.except = append(x.except, names)
		}
	}
	return x
}

// excludes reports whether a property is not in the indexes, or may not be: of an included path
// below an excluded one, it does not know. id and _ts are in them unless there are none
// (learn.microsoft.com/azure/cosmos-db/index-policy).
func (x exclusion) excludes(path []string) bool {
	if len(path) == 1 && (path[0] == "id" || path[0] == "_ts") {
		return x.none
	}
	isAbove := func(other []string) bool { return len(other) <= len(path) && slices.Equal(other, path[:len(other)]) }
	if x.all {
		return !slices.ContainsFunc(x.except, isAbove)
	}
	return x.names[path[0]] || slices.ContainsFunc(x.paths, isAbove)
}

// leaves returns the number of an item's leaves that are not excluded.
func (x exclusion) leaves(item value.Value) int {
	if !x.isOfNames() {
		return x.from(item).Leaves()
	}
	n := 0
	names, values, _ := item.Members()
	for i, name := range names {
		if !x.names[name] {
			n += values[i].Leaves()
		}
	}
	return n
}

// changedLeaves returns the number of leaves that are not excluded and that differ between two
// items.
func (x exclusion) changedLeaves(a, b value.Value) int {
	if !x.isOfNames() {
		return value.ChangedLeaves(x.from(a), x.from(b))
	}
	return value.ChangedLeavesExcept(a, b, x.names)
}

// isOfNames reports whether only top properties are excluded.
func (x exclusion) isOfNames() bool { return !x.all && len(x.paths) == 0 }

// from returns an item without its excluded properties.
func (x exclusion) from(item value.Value) value.Value {
	whole := item
	if x.all {
		item = value.Object(nil, nil)
		for _, path := range x.except {
			if v := whole.Path(path...); !v.IsUndefined() {
				item = item.With(strings.Join(path, "/"), v)
			}
		}
		return item
	}
	item = without(item, x.names)
	for _, path := range x.paths {
		item = item.Without(path)
	}
	return item
}

// expiry returns the Unix second at which an item expires if it was written at the given second,
// or 0 if it never expires. An item's own ttl applies only if the container has a defaultTtl.
// Error: 400 if the item's ttl is invalid.
func (d definition) expiry(item value.Value, written int64) (int64, error) {
	seconds := 0.0
	own := item.Get("ttl")
	if !own.IsUndefined() {
		n, ok := own.AsNumber()
		if !ok || n == 0 || n < -1 || n != float64(int64(n)) || n > maxTTL {
			return 0, badRequest("The input ttl '%s' is invalid. Ensure to provide a nonzero positive integer, or -1.", own)
		}
		seconds = n
	}
	switch {
	case d.DefaultTTL == nil:
		return 0, nil
	case own.IsUndefined():
		seconds = float64(*d.DefaultTTL)
	}
	if seconds < 0 {
		return 0, nil
	}
	return written + int64(seconds), nil
}
