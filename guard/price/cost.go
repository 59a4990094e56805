package price

import "slices"

// cost is the cost of a part of an operation for one object. ru excludes batched reads, because
// their cost depends on the length of the list that the object is in.
type cost struct {
	ru            float64
	elements      float64
	mostExpensive FieldPrice
	batched       []batchedField // at most one for each read and number of items
}

// batchedField is a batched read, the first field that needs it, and the number of items that it
// reads for one object.
type batchedField struct {
	*batchRead
	FieldPrice
	items float64
}

// plus returns the cost of two parts of one selection.
func (c cost) plus(d cost) cost {
	return cost{c.ru + d.ru, c.elements + d.elements, c.mostExpensive.max(d.mostExpensive), union(c.batched, d.batched)}
}

// max returns an upper bound for either of two costs.
func (c cost) max(d cost) cost {
	return cost{max(c.ru, d.ru), max(c.elements, d.elements), c.mostExpensive.max(d.mostExpensive), union(c.batched, d.batched)}
}

// times returns the cost for all n objects of a list, now including their batched reads.
func (c cost) times(n float64) cost {
	c.mostExpensive.RU *= n
	all := cost{ru: c.ru * n, elements: c.elements * n, mostExpensive: c.mostExpensive}
	for _, b := range c.batched {
		b.RU = b.cost(n * b.items)
		all.ru += b.RU
		all.mostExpensive = all.mostExpensive.max(b.FieldPrice)
	}
	return all
}

// scaled returns the cost for all n objects of a list that belongs to each object around it.
// Batched reads stay those of the list around it.
func (c cost) scaled(n float64) cost {
	c.ru, c.elements, c.mostExpensive.RU = c.ru*n, c.elements*n, c.mostExpensive.RU*n
	c.batched = slices.Clone(c.batched)
	for i := range c.batched {
		c.batched[i].items *= n
	}
	return c
}

// max returns the more expensive field; p if both cost the same.
func (p FieldPrice) max(q FieldPrice) FieldPrice {
	if q.RU > p.RU {
		return q
	}
	return p
}

func union(a, b []batchedField) []batchedField {
	for _, field := range b {
		isSame := func(other batchedField) bool { return other.batchRead == field.batchRead && other.items == field.items }
		if !slices.ContainsFunc(a, isSame) {
			a = append(slices.Clip(a), field)
		}
	}
	return a
}
