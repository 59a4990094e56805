package resolvers

import "slices"

// cost is what a part of an operation costs for one object. Reads that its list does for all of its elements together
// are not in it yet, because what they cost depends on how many elements there are.
type cost struct {
	ru       float64
	elements float64
	dearest  share
	shared   []sharedShare // each read once
}

// sharedShare is a read with the field that it is done for, the first that needs it.
type sharedShare struct {
	*sharedRead
	share
}

// and gives what two parts of a selection cost together.
func (c cost) and(d cost) cost {
	return cost{c.ru + d.ru, c.elements + d.elements, dearer(c.dearest, d.dearest), union(c.shared, d.shared)}
}

// or gives what costs as much as either, whatever number of objects is the one or the other.
func (c cost) or(d cost) cost {
	return cost{max(c.ru, d.ru), max(c.elements, d.elements), dearer(c.dearest, d.dearest), union(c.shared, d.shared)}
}

// times gives what n objects cost that are the elements of one list, or that are alone.
func (c cost) times(n float64) cost {
	c.dearest.ru *= n
	all := cost{ru: c.ru * n, elements: c.elements * n, dearest: c.dearest}
	for _, s := range c.shared {
		s.ru = s.of(n)
		all.ru += s.ru
		all.dearest = dearer(all.dearest, s.share)
	}
	return all
}

func dearer(a, b share) share {
	if b.ru > a.ru {
		return b
	}
	return a
}

func union(a, b []sharedShare) []sharedShare {
	for _, s := range b {
		isSame := func(other sharedShare) bool { return other.sharedRead == s.sharedRead }
		if !slices.ContainsFunc(a, isSame) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}
