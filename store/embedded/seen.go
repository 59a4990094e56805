package embedded

import "cmp"

// seenRecords are the items that a transaction has met, by resource id. A script names an item by the _self of an item
// that it was given, so that it is found here without reading the partition.
type seenRecords struct {
	records []*record
	ids     map[string]string // of those before named, by resource id
	named   int
}

func (s *seenRecords) add(r *record) {
	if r != nil {
		s.records = append(s.records, r)
	}
}

// id gives the id of the item that bears a resource id.
func (s *seenRecords) id(rid string) (id string, ok bool, err error) {
	if s.ids == nil {
		s.ids = map[string]string{}
	}
	for ; s.named < len(s.records); s.named++ {
		root, err := s.records[s.named].value()
		if err != nil {
			return "", false, err
		}
		own, _ := root.Get("_rid").AsString()
		s.ids[own], _ = root.Get("id").AsString()
	}
	id, ok = s.ids[rid]
	return id, ok, nil
}

// idOfResource gives the id of the item that bears a resource id. Where the transaction has not met it, it reads the
// partition. Error: 404, also where another item has the id by now.
func (t *transaction) idOfResource(rid string) (string, error) {
	id, ok, err := t.seen.id(rid)
	if err == nil && !ok {
		if err = t.seeAll(); err == nil {
			id, ok, err = t.seen.id(rid)
		}
	}
	if err != nil || !ok {
		return "", cmp.Or(err, error(errItemNotFound))
	}
	if c, changed := t.changes[id]; changed && c.new != nil {
		root, err := c.new.value()
		if own, _ := root.Get("_rid").AsString(); err != nil || own != rid {
			return "", cmp.Or(err, error(errItemNotFound))
		}
	}
	return id, nil
}

// seeAll meets all items of the partition.
func (t *transaction) seeAll() error {
	all := t.overlay(nil, allItems)
	for all.err == nil && all.more() {
		if _, err := all.next(); err != nil {
			return err
		}
	}
	return all.err
}
