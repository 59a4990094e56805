package embedded

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
// partition. Error: 404.
func (t *transaction) idOfResource(rid string) (string, error) {
	if id, ok, err := t.seen.id(rid); ok || err != nil {
		return id, err
	}
	all := t.overlay(nil, allItems)
	if all.err != nil {
		return "", all.err
	}
	for all.more() {
		if _, err := all.next(); err != nil {
			return "", err
		}
	}
	id, ok, err := t.seen.id(rid)
	if err == nil && !ok {
		err = errItemNotFound
	}
	return id, err
}
