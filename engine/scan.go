package engine

import (
	"bytes"
	"slices"
	"strconv"

	"cosmosblog/engine/query"
	"cosmosblog/engine/value"
)

// plan is how a query finds its candidates: by ids, with an index, or by scanning all items in
// its scope.
type plan struct {
	container *container
	locators  []locator // read one by one; if nil, the keys below are scanned
	indexed   bool      // the keys belong to an index, whose values are locators
	index     index     // if indexed
	keyRange  *keyRange // items outside it are skipped; nil for no restriction
	low, high []byte    // keys from low to before high
	only      []span    // if not nil: of those, only the keys in one of these, which are in order
	backwards bool
	sorted    bool // candidates come in the query's order
}

// plan chooses how to find a query's candidates. It returns a 400 error if ORDER BY needs a
// composite index that the container lacks.
func (c *container) plan(bound *query.Bound, s scope) (plan, error) {
	p := plan{container: c, sorted: len(bound.Order()) == 0}
	if s.partition != nil && !s.contains(*s.partition) {
		p.locators, p.sorted = []locator{}, true
		return p, nil
	}
	if locators, ok := c.namedLocators(bound.Disjuncts(), s); ok && p.sorted {
		p.locators = locators
		return p, nil
	}
	conditions := bound.Conditions()
	order := bound.Order()
	seekable := conditions
	x, backwards, ok := c.indexForOrder(order, conditions)
	if !ok && len(order) > 1 {
		return p, badRequest("The order by query does not have a corresponding composite index that it can be served from.")
	}
	if ok && s.partition != nil {
		p.sorted, p.backwards = true, backwards
		seekable = x.seekable(conditions, order)
	} else if x, ok = c.indexFor(conditions, s); !ok && s.partition == nil {
		x, ok = creation, true
	}
	if ok {
		p.indexed, p.index, p.keyRange = true, x, s.keyRange
		p.low, p.high = x.bounds(x.prefix(c.number, s.partition), seekable)
		if len(order) == 0 {
			p.only = x.members(x.prefix(c.number, s.partition), conditions)
		}
		return p, nil
	}
	p.low = itemKey(c.number, s.partition.prefix)
	p.high = after(p.low)
	if len(order) == 1 && isID(order[0]) { // the order of the items in a partition
		p.sorted, p.backwards = true, order[0].Descending
	}
	return p, nil
}

// answersByIndexes reports whether none of the paths is excluded by which the service's indexes
// find the items of a query.
func (c *container) answersByIndexes(bound *query.Bound) bool {
	return !slices.ContainsFunc(bound.IndexedPaths(), c.excluded.excludes)
}

// planID returns a fingerprint of the plan: equal for plans that find the same candidates in the
// same order, different for all others. The index's number is not part of it, because a changed
// indexing policy may assign the number and its keys to another index.
func (p plan) planID() string {
	if p.locators != nil {
		return "ids"
	}
	text := append(append(make([]byte, 0, 256), p.low...), p.high...)
	for _, path := range p.index.paths {
		text = append(text, '[')
		for i, name := range path.Path {
			if i > 0 {
				text = append(text, ' ')
			}
			text = strconv.AppendQuote(text, name)
		}
		text = strconv.AppendBool(append(text, ']'), path.Descending)
	}
	low, _ := murmur3(text)
	return strconv.FormatUint(low, 36)
}

// indexForOrder finds the index for an order within a partition, and reports whether to scan it
// backwards. Several properties need the composite index of exactly these properties. A single
// property can use any index in which equalities fix all paths before it.
func (c *container) indexForOrder(order []query.OrderItem, conditions []query.Condition) (x index, backwards, ok bool) {
	for _, x := range c.indexes {
		if x.global || len(order) == 0 || len(order) > 1 && len(order) != len(x.paths) {
			continue
		}
		for first := range min(x.fixedPaths(conditions), len(x.paths)-len(order)) + 1 {
			paths := x.paths[first : first+len(order)]
			backwards := paths[0].Descending != order[0].Descending
			if samePaths(paths, order, backwards) {
				return x, backwards, true
			}
		}
	}
	return index{}, false, false
}

// namedLocators returns the items that a query names by partition key and id. It reports false
// unless every arm of the query's condition names items. Each item occurs once, in locator
// order. That order stays the same if their range is split between two pages.
func (c *container) namedLocators(disjuncts [][]query.Condition, s scope) ([]locator, bool) {
	if len(disjuncts) == 0 {
		return nil, false
	}
	locators := []locator{}
	for _, conditions := range disjuncts {
		ids := idsOf(conditions)
		p, pinned := c.pinnedPartition(conditions)
		if s.partition != nil {
			p, pinned = *s.partition, true
		}
		if ids == nil || !pinned && !c.keyIsID() {
			return nil, false
		}
		for _, id := range ids {
			if !pinned {
				p = newPartition(value.String(id))
			}
			if s.contains(p) {
				locators = append(locators, p.locator(id))
			}
		}
	}
	slices.SortFunc(locators, func(a, b locator) int { return bytes.Compare(a, b) })
	return slices.CompactFunc(locators, func(a, b locator) bool { return bytes.Equal(a, b) }), true
}

func (c *container) keyIsID() bool { return len(c.keyPath) == 1 && c.keyPath[0] == "id" }

// contains reports whether a logical partition is in the scope.
func (s scope) contains(p partition) bool {
	return s.keyRange == nil || s.keyRange.contains(p.epk())
}

// idsOf returns the ids that conditions require, or nil.
func idsOf(conditions []query.Condition) []string {
	for _, condition := range conditions {
		if len(condition.Path) != 1 || condition.Path[0] != "id" || condition.Op != query.Eq && condition.Op != query.In {
			continue
		}
		ids := make([]string, 0, len(condition.Values))
		for _, v := range condition.Values {
			if id, ok := v.AsString(); ok {
				ids = append(ids, id)
			}
		}
		return ids
	}
	return nil
}

// indexFor returns the index in the scope whose paths the conditions restrict most.
func (c *container) indexFor(conditions []query.Condition, s scope) (best index, ok bool) {
	most := 0
	for _, x := range c.indexes {
		if x.global != (s.partition == nil) {
			continue
		}
		n := 2 * x.fixedPaths(conditions) // an equality restricts more than a range
		onNext := func(c query.Condition) bool { return isRange(c, x.paths[n/2]) }
		if n < 2*len(x.paths) && slices.ContainsFunc(conditions, onNext) {
			n++
		}
		if n > most {
			best, most = x, n
		}
	}
	return best, most > 0
}

// fixedPaths returns how many of the index's first paths are fixed by equalities.
func (x index) fixedPaths(conditions []query.Condition) int {
	for i, path := range x.paths {
		if _, ok := equalTo(path, conditions); !ok {
			return i
		}
	}
	return len(x.paths)
}

func equalTo(path query.OrderItem, conditions []query.Condition) (value.Value, bool) {
	for _, condition := range conditions {
		v := condition.Values[0]
		// An index key has an object's properties in the order in which they were written, but
		// equality ignores their order.
		scalar := v.Kind() != value.KindArray && v.Kind() != value.KindObject
		if condition.Op == query.Eq && scalar && slices.Equal(condition.Path, path.Path) {
			return v, true
		}
	}
	return value.Undefined, false
}

// prefix returns the common prefix of the index's keys within a partition; p is nil for a global
// index.
func (x index) prefix(container uint32, p *partition) []byte {
	key := indexKey(container, x.number)
	if x.global {
		return key
	}
	return append(key, p.prefix...)
}

// seekable returns the conditions by which a scan of the index in the order of a query may seek. A
// range is one of them only if the documentation says that the index serves it: "If a property has
// a range filter, then this property should be defined last in the composite index", and the order
// has all paths of the index, those of the equalities first
// (learn.microsoft.com/azure/cosmos-db/index-policy#queries-with-a-filter-and-order-by). By any
// other range, the scan begins where the order does, and loads what it skips. It is charged for
// that.
//
// Queries without an order seek by every range, because every path has an index of its own (on the
// same page, "Range indexes").
func (x index) seekable(conditions []query.Condition, order []query.OrderItem) []query.Condition {
	last := x.paths[len(x.paths)-1]
	return slices.DeleteFunc(slices.Clone(conditions), func(condition query.Condition) bool {
		return condition.Op != query.Eq && (len(order) < len(x.paths) || !slices.Equal(condition.Path, last.Path))
	})
}

// extend appends the values of the first paths, which equalities fix, to the prefix of the index's
// keys. It returns the other paths, too.
func (x index) extend(prefix []byte, conditions []query.Condition) (extended []byte, others []query.OrderItem) {
	for i, path := range x.paths {
		v, ok := equalTo(path, conditions)
		if !ok {
			return prefix, x.paths[i:]
		}
		prefix = value.AppendKey(prefix, v, path.Descending)
	}
	return prefix, nil
}

// bounds returns the range of keys that meets the conditions: equalities on the first paths,
// then a range on the next one.
func (x index) bounds(prefix []byte, conditions []query.Condition) (low, high []byte) {
	prefix, others := x.extend(prefix, conditions)
	if len(others) == 0 {
		return prefix, after(prefix)
	}
	return rangeBounds(prefix, others[0], conditions)
}

// span is a range of keys: from low to before high.
type span struct{ low, high []byte }

// members returns the ranges of keys that meet an IN condition: equalities on the first paths, then
// IN on the next one. It returns nil if there is no such condition.
func (x index) members(prefix []byte, conditions []query.Condition) (only []span) {
	prefix, others := x.extend(prefix, conditions)
	if len(others) == 0 {
		return nil
	}
	path := others[0]
	at := slices.IndexFunc(conditions, func(c query.Condition) bool { return isMembership(c, path) })
	if at < 0 {
		return nil
	}
	bound := func(v value.Value, after bool) []byte {
		return value.AppendKeyBound(bytes.Clone(prefix), v, path.Descending, after)
	}
	for _, v := range conditions[at].Values {
		only = append(only, span{bound(v, false), bound(v, true)})
	}
	slices.SortFunc(only, func(a, b span) int { return bytes.Compare(a.low, b.low) })
	return only
}

// isMembership reports whether a condition restricts a path to some scalars. An index key has an
// object's properties in their order, but equality ignores it.
func isMembership(condition query.Condition, path query.OrderItem) bool {
	return condition.Op == query.In && slices.Equal(condition.Path, path.Path) &&
		!slices.ContainsFunc(condition.Values, func(v value.Value) bool { return v.Kind() == value.KindArray || v.Kind() == value.KindObject })
}

// isRange reports whether a condition restricts a path to a range of values.
func isRange(condition query.Condition, path query.OrderItem) bool {
	return condition.Op != query.Eq && condition.Op != query.In && slices.Equal(condition.Path, path.Path)
}

// rangeBounds narrows the keys with a prefix to the ranges that conditions set for one path. A
// range ends where values of another type begin, because comparisons between types are
// undefined.
func rangeBounds(prefix []byte, path query.OrderItem, conditions []query.Condition) (low, high []byte) {
	low, high = prefix, after(prefix)
	for _, condition := range conditions {
		if !isRange(condition, path) {
			continue
		}
		below := condition.Op == query.Less || condition.Op == query.LessEq
		inclusive := condition.Op == query.LessEq || condition.Op == query.GreaterEq
		upper := below != path.Descending // of the keys
		at := value.AppendKeyBound(bytes.Clone(prefix), condition.Values[0], path.Descending, upper == inclusive)
		kind := at[:len(prefix)+1]
		from, to := kind, after(kind)
		if upper {
			to = at
		} else {
			from = at
		}
		if bytes.Compare(from, low) > 0 {
			low = from
		}
		if high == nil || bytes.Compare(to, high) < 0 {
			high = to
		}
	}
	return low, high
}
