package engine

import (
	"context"
	"net/http"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/value"
)

// transaction is a unit of work in one logical partition. It is committed as a whole, under one
// log sequence number, or not at all. It sees its own writes. Its user holds the partition's
// lock until the commit has handed the batch to Pebble; for optimistic, see there. It is not safe
// for concurrent use.
type transaction struct {
	engine    *Engine
	container *container
	partition partition
	reader    pebble.Reader // of committed data: the database, or a snapshot
	now       int64         // Unix seconds; fixed for the whole transaction

	stored  map[string]*record // committed items looked up, by id; nil if there is none
	missed  bool               // the last item looked up did not exist
	empty   bool               // the partition is known to be empty
	changes map[string]*change // by id
	order   []string           // ids in the order of their first change
	charge  float64
	ids     map[string]string // ids of items that it created, or that a script read, by resource id
	// Computed rows that were not returned yet, by the position in their continuation; nil until
	// needed.
	pendingPages map[string]page
}

// change is a transaction's change of one item.
type change struct {
	locator locator
	old     *record // as committed, possibly expired; nil if there was none
	new     *record // nil if the item is deleted
}

func (e *Engine) newTransaction(c *container, p partition) *transaction {
	return &transaction{engine: e, container: c, partition: p, reader: e.db, now: e.options.Now().Unix(),
		stored: map[string]*record{}, changes: map[string]*change{}, ids: map[string]string{}}
}

// load returns the item as the transaction sees it, or nil.
func (t *transaction) load(id string) (*record, error) {
	if c, ok := t.changes[id]; ok {
		return c.new, nil
	}
	r, err := t.committed(id)
	if err != nil || r == nil || r.expired(t.now) {
		return nil, err
	}
	return r, nil
}

// committed returns an item as it was when the transaction began, even if it has expired, or
// nil. It reads each item once, because the lock, or the snapshot, excludes other writers. If two
// items in a row are missing, the partition is probably new and empty, and one more lookup checks
// that.
func (t *transaction) committed(id string) (*record, error) {
	r, known := t.stored[id]
	if known || t.empty {
		return r, nil
	}
	var err error
	if len(t.stored) == 1 && t.missed {
		if t.empty, err = t.isEmpty(); err != nil || t.empty {
			return nil, err
		}
	}
	if r, err = readRecord(t.reader, t.container, t.partition.locator(id)); err != nil {
		return nil, err
	}
	t.stored[id], t.missed = r, r == nil
	return r, nil
}

// isEmpty reports whether the partition holds no committed items, including expired ones.
func (t *transaction) isEmpty() (bool, error) {
	items, err := t.reader.NewIter(within(itemKey(t.container.number, t.partition.prefix)))
	if err != nil {
		return false, err
	}
	found := items.First()
	return !found, items.Close()
}

// stage records a change of an item; nil deletes it.
func (t *transaction) stage(id string, r *record) error {
	if c, ok := t.changes[id]; ok {
		c.new = r
		return nil
	}
	old, err := t.committed(id)
	if err != nil {
		return err
	}
	t.changes[id] = &change{locator: t.partition.locator(id), old: old, new: r}
	t.order = append(t.order, id)
	return nil
}

// read returns an item and charges for it. Error: 404.
func (t *transaction) read(id string) (*record, error) {
	r, err := t.mustLoad(id)
	if err == nil {
		t.charge += readCharge(len(r.text))
	}
	return r, err
}

// mustLoad returns an item. It charges only for a missing one. Error: 404.
func (t *transaction) mustLoad(id string) (*record, error) {
	r, err := t.load(id)
	if err != nil {
		return nil, err
	}
	if r == nil {
		t.charge += readLeast
		return nil, errItemNotFound
	}
	return r, nil
}

// create inserts an item. Errors: 400, 409, 413.
func (t *transaction) create(item value.Value) (*record, error) {
	id, err := t.check(item)
	if err != nil {
		return nil, err
	}
	existing, err := t.load(id)
	if err != nil {
		return nil, err
	}
	if existing != nil {
		t.charge += readLeast
		return nil, errConflict
	}
	return t.insert(id, item)
}

// upsert inserts or replaces an item and reports whether it was inserted. Errors: 400, 412, 413.
func (t *transaction) upsert(item value.Value, ifMatch string) (r *record, created bool, err error) {
	id, err := t.check(item)
	if err != nil {
		return nil, false, err
	}
	existing, err := t.load(id)
	if err != nil {
		return nil, false, err
	}
	if existing == nil {
		r, err = t.insert(id, item)
		return r, true, err
	}
	if err := t.match(existing, ifMatch); err != nil {
		return nil, false, err
	}
	r, err = t.overwrite(id, existing, item)
	return r, false, err
}

// replace replaces an existing item. An item with another id renames it: it keeps its resource id
// (azure-cosmos-dotnet-v3#1375: "ReplaceItemAsync allows updating the id value"; EmulatorTests/
// CosmosItemTests.cs, ItemReplaceAsyncTest). Errors: 400, 404, 409 if the other id is taken, 412,
// 413.
func (t *transaction) replace(id string, item value.Value, ifMatch string) (*record, error) {
	newID, err := t.check(item)
	if err != nil {
		return nil, err
	}
	existing, err := t.existing(id, ifMatch)
	if err != nil {
		return nil, err
	}
	if newID != id {
		taken, err := t.load(newID)
		if err != nil {
			return nil, err
		}
		if taken != nil {
			t.charge += readLeast
			return nil, errConflict
		}
	}
	r, err := t.overwrite(newID, existing, item)
	if err == nil && newID != id {
		err = t.stage(id, nil)
	}
	return r, err
}

// delete deletes an item. Errors: 404, 412.
func (t *transaction) delete(id, ifMatch string) error {
	existing, err := t.existing(id, ifMatch)
	if err != nil {
		return err
	}
	root, err := existing.value()
	if err != nil {
		return err
	}
	t.charge += deleteCharge(t.container.excluded.leaves(root))
	return t.stage(id, nil)
}

// patch changes parts of an item. Errors: 400, 404, 412, 413.
func (t *transaction) patch(id string, p patch, ifMatch string) (*record, error) {
	existing, err := t.existing(id, ifMatch)
	if err != nil {
		return nil, err
	}
	root, err := existing.value()
	if err != nil {
		return nil, err
	}
	if !p.applies(root) {
		t.charge += readCharge(len(existing.text))
		return nil, errPrecondition
	}
	patched, err := p.apply(withoutSystem(root))
	if err != nil {
		return nil, err
	}
	if _, err := t.check(patched); err != nil {
		return nil, err
	}
	if newID, _ := patched.Get("id").AsString(); newID != id {
		return nil, badRequest("The id of an item cannot be changed.")
	}
	return t.overwrite(id, existing, patched)
}

// existing returns an existing item if its etag matches ifMatch. A client that saw another state
// gets 412 before any other check of the item. Errors: 404, 412.
func (t *transaction) existing(id, ifMatch string) (*record, error) {
	r, err := t.mustLoad(id)
	if err != nil {
		return nil, err
	}
	return r, t.match(r, ifMatch)
}

// match compares an item's etag with ifMatch and charges for a mismatch.
func (t *transaction) match(r *record, ifMatch string) error {
	err := matchETag(r, ifMatch)
	if err != nil {
		t.charge += readLeast
	}
	return err
}

func (t *transaction) insert(id string, item value.Value) (*record, error) {
	rid := childRID(t.container.databaseNumber, t.container.number, kindItem, t.engine.nextSerial())
	r, err := t.record(item, rid)
	if err != nil {
		return nil, err
	}
	t.ids[rid] = id
	t.charge += createCharge(len(r.text), t.container.excluded.leaves(item))
	return r, t.stage(id, r)
}

func (t *transaction) overwrite(id string, existing *record, item value.Value) (*record, error) {
	root, err := existing.value()
	if err != nil {
		return nil, err
	}
	rid, _ := root.Get("_rid").AsString()
	r, err := t.record(item, rid)
	if err != nil {
		return nil, err
	}
	t.ids[rid] = id
	t.charge += replaceCharge(len(r.text), t.container.excluded.changedLeaves(root, item))
	return r, t.stage(id, r)
}

// check validates an item and returns its id.
func (t *transaction) check(item value.Value) (string, error) {
	if item.Kind() != value.KindObject {
		return "", badRequest("An item must be a JSON object.")
	}
	if item.Depth() > value.MaxDepth {
		return "", badRequest("An item can nest at most %d levels deep.", value.MaxDepth)
	}
	id, ok := item.Get("id").AsString()
	if !ok {
		return "", badRequest("The input content is invalid because the required properties - 'id; ' - are missing")
	}
	if err := checkID(id); err != nil {
		return "", err
	}
	key, err := keyOf(item.Path(t.container.keyPath...))
	if err != nil {
		return "", err
	}
	if !value.Equal(key, t.partition.key) {
		return "", errKeyMismatch
	}
	return id, nil
}

// record creates the record of an item with a resource id.
func (t *transaction) record(item value.Value, rid string) (*record, error) {
	expires, err := t.container.definition.expiry(item, t.now)
	if err != nil {
		return nil, err
	}
	self := t.container.self() + "docs/" + rid + "/"
	r := newRecord(withSystem(item, rid, self, t.engine.newETag(), t.now), expires)
	if len(r.text) > maxItemBytes {
		return nil, errTooLarge
	}
	return r, nil
}

// matchETag compares an item's etag with the header If-Match. An empty header and * match every
// etag.
func matchETag(r *record, ifMatch string) error {
	if ifMatch == "" || ifMatch == "*" {
		return nil
	}
	etag, err := r.etag()
	if err != nil {
		return err
	}
	if etag != ifMatch && strings.Trim(etag, `"`) != strings.Trim(ifMatch, `"`) {
		return errPrecondition
	}
	return nil
}

// changed reports whether there is anything to commit. An item that was created and deleted
// within the transaction does not count.
func (t *transaction) changed() bool {
	for _, c := range t.changes {
		if c.old != nil || c.new != nil {
			return true
		}
	}
	return false
}

// transact runs work in a transaction under the partition's lock and commits it (run).
func (r *request) transact(p partition, work func(*transaction) error) (*response, error) {
	return r.run(p, (*transaction).locked, work)
}

// committer is a method of transaction that runs work and commits it.
type committer func(*transaction, context.Context, func(*transaction) error) (committed, error)

// run runs work in a transaction and commits it. If work fails, nothing is written. The response
// carries the charge and the session token, also for a rejection caused by the state of an item.
// After such a rejection, the client usually reads the item. With the token, no replica that lags
// behind can answer.
func (r *request) run(p partition, commit committer, work func(*transaction) error) (*response, error) {
	t := r.engine.newTransaction(r.container, p)
	done, err := commit(t, r.Context(), work)
	answer := &response{charge: t.charge}
	if waited := done.wait(); waited != nil {
		return nil, waited
	}
	if err != nil {
		if describesState(err) && done.keyRange != nil {
			answer.withState(done.keyRange, done.lsn)
		}
		return answer, err
	}
	return answer.withState(done.keyRange, done.lsn), nil
}

// describesState reports whether an error describes the state of an item. The service's SDKs
// keep the session token of these errors.
func describesState(err error) bool {
	rejection, ok := protocolError(err)
	if !ok {
		return false
	}
	switch rejection.Status {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed:
		return true
	}
	return false
}
