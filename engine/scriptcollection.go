package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// scriptCollection is the script's view of a transaction.
type scriptCollection struct{ t *transaction }

func (s *scriptCollection) SelfLink() string { return s.t.container.self() }

func (s *scriptCollection) AltLink() string {
	return "dbs/" + s.t.container.databaseName + "/colls/" + s.t.container.name
}

// operationError returns a protocol error to the script; an engine failure terminates the
// script.
func operationError(err error) error {
	if rejection, ok := protocolError(err); ok {
		return &script.OperationError{Number: rejection.Status, Substatus: rejection.Substatus, Message: rejection.Message}
	}
	return err
}

func storedItem(r *record, err error) (value.Value, error) {
	if err != nil {
		return value.Undefined, operationError(err)
	}
	return r.value()
}

func (s *scriptCollection) Read(link string) (value.Value, error) {
	id, err := s.idOf(link)
	if err != nil {
		return value.Undefined, operationError(err)
	}
	item, err := storedItem(s.t.read(id))
	if rid, ok := item.Get("_rid").AsString(); ok {
		s.t.ids[rid] = id // a script usually writes the item next, by its _self
	}
	return item, err
}

func (s *scriptCollection) Create(item value.Value, generateID bool) (value.Value, error) {
	return storedItem(s.t.create(s.withID(item, generateID)))
}

func (s *scriptCollection) Upsert(item value.Value, generateID bool, ifMatch string) (value.Value, bool, error) {
	r, created, err := s.t.upsert(s.withID(item, generateID), ifMatch)
	stored, err := storedItem(r, err)
	return stored, created, err
}

func (s *scriptCollection) Replace(link string, item value.Value, ifMatch string) (value.Value, error) {
	id, err := s.idOf(link)
	if err != nil {
		return value.Undefined, operationError(err)
	}
	return storedItem(s.t.replace(id, item, ifMatch))
}

func (s *scriptCollection) Delete(link, ifMatch string) error {
	id, err := s.idOf(link)
	if err == nil {
		err = s.t.delete(id, ifMatch)
	}
	if err != nil {
		return operationError(err)
	}
	return nil
}

// withID returns an item of a script. If generateID is set, an item without an id gets one.
func (s *scriptCollection) withID(item value.Value, generateID bool) value.Value {
	id := item.Get("id")
	without := id.IsUndefined() || id.Kind() == value.KindNull || value.Equal(id, value.String(""))
	if generateID && without && item.Kind() == value.KindObject {
		item = item.With("id", value.String(guid(s.t.engine.nextSerial())))
	}
	return item
}

// guid formats a number like the ids that the service generates.
func guid(n uint64) string { return fmt.Sprintf("00000000-%04x-4000-8000-%012x", n>>48, n&(1<<48-1)) }

// idOf returns the id of the item that a link names: a link of names ("dbs/d/colls/c/docs/id"),
// or an item's _self.
func (s *scriptCollection) idOf(link string) (string, error) {
	trimmed := strings.Trim(link, "/")
	if id, ok := strings.CutPrefix(trimmed, s.AltLink()+"/docs/"); ok {
		return id, nil
	}
	rid, ok := strings.CutPrefix(trimmed, s.SelfLink()+"docs/")
	if !ok {
		return "", badRequest("The link %s does not name an item of this container.", link)
	}
	return s.t.idByRID(rid)
}

func (s *scriptCollection) ReadFeed(token string, pageSize int) (p script.Page, err error) {
	from, err := parseContinuation(token, feedFingerprint)
	if err != nil {
		return script.Page{}, operationError(err)
	}
	all, err := s.t.overlay(from.Position)
	if err != nil {
		return script.Page{}, err
	}
	defer func() { err = errors.Join(err, all.close()) }()
	size, bytes := scriptPageSize(pageSize), 0
	for len(p.Items) < size && bytes < maxPageBytes && all.more() {
		stored, err := all.next()
		if err != nil {
			return script.Page{}, err
		}
		item, err := stored.value()
		if err != nil {
			return script.Page{}, err
		}
		p.Items = append(p.Items, item)
		bytes += len(stored.text)
	}
	s.t.charge += queryCharge(1, len(p.Items), bytes)
	if all.more() {
		p.Continuation = (&continuation{Fingerprint: feedFingerprint, Position: all.position()}).String()
	}
	return p, nil
}

// feedFingerprint replaces a query's fingerprint in continuations of lists of all items.
const feedFingerprint = "feed"

func scriptPageSize(asked int) int {
	if asked < 1 || asked > maxPageSize {
		return maxPageSize
	}
	return asked
}

func (s *scriptCollection) Query(ctx context.Context, body []byte, token string, pageSize int) (script.Page, error) {
	bound, fingerprint, err := s.t.engine.parseQuery(body)
	if err != nil {
		return script.Page{}, operationError(err)
	}
	from, err := parseContinuation(token, fingerprint)
	if err != nil {
		return script.Page{}, operationError(err)
	}
	found, err := s.t.query(ctx, bound, from, scriptPageSize(pageSize))
	if err != nil {
		return script.Page{}, operationError(err)
	}
	var p script.Page
	for _, row := range found.rows {
		item, err := value.Parse(row)
		if err != nil {
			return script.Page{}, err
		}
		p.Items = append(p.Items, item)
	}
	p.Continuation = found.next.token(fingerprint)
	return p, nil
}
