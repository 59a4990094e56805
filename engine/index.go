package engine

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"cosmosblog/engine/query"
	"cosmosblog/engine/value"
)

// index is an order in which a container's items can be scanned and sought. It comes from a
// composite index of the indexing policy, within each logical partition, or from an explicitly
// included scalar path ("/userId/?"), across the container. The service indexes every included
// path, even if only "/*" includes it. This engine keeps indexes for named paths only; other
// queries scan the partition or the container. Every container has one more index without paths:
// the order in which its items were created.
type index struct {
	number int // part of its keys
	paths  []query.OrderItem
	global bool // across the container, not within a logical partition
}

// creation is the index of a container's items in creation order, which is the order of their
// resource ids. The service returns unsorted results in this order.
var creation = index{number: math.MaxUint16, global: true}

// indexesOf returns the creation index and the indexes that a definition requires. Paths through
// arrays have none: no query of the engine would use it.
func indexesOf(d definition) []index {
	indexes := []index{creation}
	for _, composite := range d.IndexingPolicy.CompositeIndexes {
		paths := make([]query.OrderItem, 0, len(composite))
		for _, part := range composite {
			if names, err := d.parsePath(part.Path); err == nil {
				paths = append(paths, query.OrderItem{Path: names, Descending: strings.EqualFold(part.Order, "descending")})
			}
		}
		if len(paths) == len(composite) {
			indexes = append(indexes, index{number: len(indexes) - 1, paths: paths})
		}
	}
	for _, included := range d.IndexingPolicy.IncludedPaths {
		if !strings.HasSuffix(included.Path, "/?") || strings.ContainsAny(included.Path, "*[") {
			continue
		}
		if names, err := d.parsePath(included.Path); err == nil {
			indexes = append(indexes, index{number: len(indexes) - 1, paths: []query.OrderItem{{Path: names}}, global: true})
		}
	}
	return indexes
}

func (x index) isCreation() bool { return x.number == creation.number }

// key returns an item's key in the index. The locator after the values makes the key unique.
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

// sameIndexes reports whether two containers have the same indexes.
func sameIndexes(a, b []index) bool {
	return slices.EqualFunc(a, b, func(x, y index) bool { return x.global == y.global && samePaths(x.paths, y.paths, false) })
}

// samePaths reports whether two lists of paths define the same order. With reversed, it reports
// whether each is the reverse of the other.
func samePaths(a, b []query.OrderItem, reversed bool) bool {
	return slices.EqualFunc(a, b, func(x, y query.OrderItem) bool {
		return slices.Equal(x.Path, y.Path) && (x.Descending != y.Descending) == reversed
	})
}
