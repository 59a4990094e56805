package embedded

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"cosmosblog/store/embedded/query"
	"cosmosblog/store/embedded/value"
)

// index is an order in which the items of a container can be walked, and sought in: a composite index of the indexing
// policy, within each logical partition; or an explicitly included scalar path ("/userId/?"), across the container. The
// service indexes every path that is included, also by "/*"; this engine keeps an index only for those that are named,
// and reads the partition, or the container, where there is none. Every container has one more, without paths: the order
// in which its items were created.
type index struct {
	number int // its place in the container's keys
	paths  []query.OrderItem
	global bool // across the container
}

// creation is the index of all items of a container in the order in which they were created: that of their resource ids,
// in which the service gives what it was not asked to sort.
var creation = index{number: math.MaxUint16, global: true}

// indexesOf gives the index of the creation, and those that a definition asks for.
func indexesOf(d definition) ([]index, error) {
	indexes := []index{creation}
	for _, composite := range d.IndexingPolicy.CompositeIndexes {
		paths := make([]query.OrderItem, len(composite))
		for i, part := range composite {
			names, err := parsePath(part.Path)
			if err != nil {
				return nil, err
			}
			paths[i] = query.OrderItem{Path: names, Descending: strings.EqualFold(part.Order, "descending")}
		}
		if len(paths) < 2 || len(paths) > 8 {
			return nil, badRequest("A composite index has 2 to 8 paths.")
		}
		indexes = append(indexes, index{number: len(indexes) - 1, paths: paths})
	}
	for _, included := range d.IndexingPolicy.IncludedPaths {
		if !strings.HasSuffix(included.Path, "/?") || strings.ContainsAny(included.Path, "*[") {
			continue
		}
		names, err := parsePath(included.Path)
		if err != nil {
			return nil, err
		}
		indexes = append(indexes, index{number: len(indexes) - 1, paths: []query.OrderItem{{Path: names}}, global: true})
	}
	return indexes, nil
}

func (x index) isCreation() bool { return x.number == creation.number }

// key gives the index's key of an item. With the locator behind the values no two items share a key.
func (x index) key(container uint32, l locator, partition int, item value.Value) []byte {
	key := indexKey(container, x.number)
	if !x.global {
		key = append(key, l[:partition]...)
	}
	if x.isCreation() {
		rid, _ := item.Get("_rid").AsString()
		return binary.BigEndian.AppendUint64(key, itemNumber(rid))
	}
	for _, path := range x.paths {
		key = value.AppendKey(key, item.Path(path.Path...), path.Descending)
	}
	if x.global {
		return append(key, l...)
	}
	return append(key, l[partition:]...)
}

// sameIndexes tells whether two containers keep the same indexes.
func sameIndexes(a, b []index) bool {
	return slices.EqualFunc(a, b, func(x, y index) bool { return x.global == y.global && samePaths(x.paths, y.paths, false) })
}

// samePaths tells whether two lists of paths give the same order, or, with reversed, each the reverse of the other's.
func samePaths(a, b []query.OrderItem, reversed bool) bool {
	return slices.EqualFunc(a, b, func(x, y query.OrderItem) bool {
		return slices.Equal(x.Path, y.Path) && (x.Descending != y.Descending) == reversed
	})
}
