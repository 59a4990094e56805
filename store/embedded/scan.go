package embedded

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"cosmosblog/store/embedded/query"
	"cosmosblog/store/embedded/value"
)

// plan is how a query finds its candidates: by ids, along an index, or through all items of its scope.
type plan struct {
	container *container
	locators  []locator // read one by one; nil where the keys below are walked
	indexed   bool      // the keys are an index's, whose values are locators
	index     index     // that one
	keyRange  *keyRange // what is not in it is passed over; nil for everything
	low, high []byte    // keys from low to before high
	backwards bool
	sorted    bool // candidates come in the order that the query asks for
}

// plan chooses how to find the candidates of a query. Error: 400 where the order asks for a composite index that the
// container does not have.
func (c *container) plan(bound *query.Bound, s scope) (plan, error) {
	p := plan{container: c, sorted: len(bound.Order()) == 0}
	if s.partition != nil && !s.contains(*s.partition) {
		p.locators, p.sorted = []locator{}, true
		return p, nil
	}
	if locators, ok := c.named(bound.Disjuncts(), s); ok && p.sorted {
		p.locators = locators
		return p, nil
	}
	conditions := bound.Conditions()
	order := bound.Order()
	x, backwards, ok := c.ordering(order, conditions)
	if !ok && len(order) > 1 {
		return p, badRequest("The order by query does not have a corresponding composite index that it can be served from.")
	}
	if ok && s.partition != nil {
		p.sorted, p.backwards = true, backwards
	} else if x, ok = c.indexFor(conditions, s); !ok && s.partition == nil {
		x, ok = creation, true
	}
	if ok {
		p.indexed, p.index, p.keyRange = true, x, s.keyRange
		p.low, p.high = x.bounds(x.prefix(c.number, s.partition), conditions)
		return p, nil
	}
	p.low = itemKey(c.number, s.partition.prefix)
	p.high = after(p.low)
	if len(order) == 1 && isID(order[0]) { // in which the items of a partition lie
		p.sorted, p.backwards = true, order[0].Descending
	}
	return p, nil
}

// along is the same for plans that find the same candidates in the same order, and tells others from each other: an index's
// number, and with it its keys, may be another's once the indexing policy is changed.
func (p plan) along() string {
	if p.locators != nil {
		return "ids"
	}
	text := slices.Concat(p.low, p.high)
	for _, path := range p.index.paths {
		text = fmt.Appendf(text, "%q%t", path.Path, path.Descending)
	}
	low, _ := murmur3(text)
	return strconv.FormatUint(low, 36)
}

// ordering finds the index that gives an order within a partition, and whether it must be walked backwards: of several
// properties the composite index of just these; of one any index in which equalities fix the paths before it.
func (c *container) ordering(order []query.OrderItem, conditions []query.Condition) (x index, backwards, ok bool) {
	for _, x := range c.indexes {
		if x.global || len(order) == 0 || len(order) > 1 && len(order) != len(x.paths) {
			continue
		}
		for first := range min(x.narrowed(conditions), len(x.paths)-len(order)) + 1 {
			paths := x.paths[first : first+len(order)]
			backwards := paths[0].Descending != order[0].Descending
			if samePaths(paths, order, backwards) {
				return x, backwards, true
			}
		}
	}
	return index{}, false, false
}

// named gives the items that a query names by partition key and id, where every arm of its condition does: each once, in
// the order of their locators, which is the same where their range is split between two pages.
func (c *container) named(disjuncts [][]query.Condition, s scope) ([]locator, bool) {
	if len(disjuncts) == 0 {
		return nil, false
	}
	seen := map[string]bool{}
	locators := []locator{}
	for _, conditions := range disjuncts {
		ids := idsOf(conditions)
		p, pinned := c.pinned(conditions)
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
			l := p.locator(id)
			if !seen[string(l)] && s.contains(p) {
				seen[string(l)] = true
				locators = append(locators, l)
			}
		}
	}
	slices.SortFunc(locators, func(a, b locator) int { return bytes.Compare(a, b) })
	return locators, true
}

func (c *container) keyIsID() bool { return len(c.keyPath) == 1 && c.keyPath[0] == "id" }

// contains tells whether a logical partition is in the scope.
func (s scope) contains(p partition) bool {
	return s.keyRange == nil || s.keyRange.contains(p.epk())
}

// idsOf gives the ids that conditions ask for, or nil.
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

// indexFor gives the index of the scope that more conditions narrow than any other.
func (c *container) indexFor(conditions []query.Condition, s scope) (best index, ok bool) {
	most := 0
	for _, x := range c.indexes {
		if x.global != (s.partition == nil) {
			continue
		}
		n := 2 * x.narrowed(conditions) // an equality leaves less than a range does
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

// narrowed tells how many of the index's first paths an equality fixes.
func (x index) narrowed(conditions []query.Condition) int {
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
		// A key has an object's properties in the order in which it was written, and equality does not ask for that order.
		scalar := v.Kind() != value.KindArray && v.Kind() != value.KindObject
		if condition.Op == query.Eq && scalar && slices.Equal(condition.Path, path.Path) {
			return v, true
		}
	}
	return value.Undefined, false
}

// prefix is what all keys of the index within a partition begin with; p is nil for a global index.
func (x index) prefix(container uint32, p *partition) []byte {
	key := indexKey(container, x.number)
	if x.global {
		return key
	}
	return append(key, p.prefix...)
}

// bounds gives the keys that conditions leave: those of the equalities on the first paths, then of the range on the
// next one.
func (x index) bounds(prefix []byte, conditions []query.Condition) (low, high []byte) {
	for _, path := range x.paths {
		v, ok := equalTo(path, conditions)
		if !ok {
			return rangeBounds(prefix, path, conditions)
		}
		prefix = value.AppendKey(prefix, v, path.Descending)
	}
	return prefix, after(prefix)
}

// isRange tells whether a condition leaves a range of a path's values.
func isRange(condition query.Condition, path query.OrderItem) bool {
	return condition.Op != query.Eq && condition.Op != query.In && slices.Equal(condition.Path, path.Path)
}

// rangeBounds narrows the keys with a prefix by the ranges that conditions set to one path. A range ends where values of
// another type begin, because comparisons between types are undefined.
func rangeBounds(prefix []byte, path query.OrderItem, conditions []query.Condition) (low, high []byte) {
	low, high = prefix, after(prefix)
	for _, condition := range conditions {
		if !isRange(condition, path) {
			continue
		}
		at := value.AppendKey(bytes.Clone(prefix), condition.Values[0], path.Descending)
		kind := at[:len(prefix)+1]
		from, to := kind, after(kind)
		below := condition.Op == query.Less || condition.Op == query.LessEq
		inclusive := condition.Op == query.LessEq || condition.Op == query.GreaterEq
		switch {
		case below != path.Descending && inclusive: // what comes up to here
			to = after(at)
		case below != path.Descending:
			to = at
		case inclusive: // what comes from here
			from = at
		default:
			from = after(at)
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
