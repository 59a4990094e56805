package price

import "slices"

// cost is the cost of a part of an operation for one object. ru excludes batched reads, because
// their cost depends on the length of the list that the object is in.
type cost struct {
	ru            float64
	elements      float64
	mostExpensive FieldPrice
	batched       []batchedField // at most one for each read
}

// batchedField is a batched read and the first field that needs it.
type batchedField struct {
	*batchRead
	FieldPrice
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
		b.RU = b.cost(n)
		all.ru += b.RU
		all.mostExpensive = all.mostExpensive.max(b.FieldPrice)
	}
	return all
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
		isSame := func(other batchedField) bool { return other.batchRead == field.batchRead }
		if !slices.ContainsFunc(a, isSame) {
			a = append(slices.Clip(a), field)
		}
	}
	return a
}
