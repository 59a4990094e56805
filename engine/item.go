package engine

import (
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"cosmosblog/engine/value"
)

// headerPartition returns the logical partition named in the request's header. Error: 400 if
// there is none, or if the header has other bytes than ASCII, which the gateway does not take
// (azure-sdk-for-java pull request 47881). SDKs escape them as JSON does.
func (r *request) headerPartition() (partition, error) {
	header := r.Header.Get("X-Ms-Documentdb-Partitionkey")
	if header == "" {
		return partition{}, errNoPartitionKey
	}
	if strings.IndexFunc(header, func(c rune) bool { return c > unicode.MaxASCII }) >= 0 {
		return partition{}, badRequest("The header x-ms-documentdb-partitionkey must be JSON in ASCII.")
	}
	return parsePartitionKey(header)
}

// postItems handles POST on a container's items: a query, a query plan, a batch, an upsert or a
// create.
func (r *request) postItems() (*response, error) {
	switch {
	case r.headerIsTrue("X-Ms-Cosmos-Is-Query-Plan-Request"):
		return r.planQuery()
	case IsQuery(r.Header):
		return r.queryItems()
	case r.headerIsTrue("X-Ms-Cosmos-Is-Batch-Request"):
		return r.executeBatch()
	case r.headerIsTrue("X-Ms-Documentdb-Is-Upsert"):
		return r.writeBody("Upsert", (*transaction).upsertOperation)
	}
	return r.writeBody("Create", (*transaction).createOperation)
}

func (r *request) readItem() (*response, error) {
	p, err := r.headerPartition()
	if err != nil {
		return nil, err
	}
	keyRange := r.container.rangeOf(p.epk())
	if err := r.checkSession(rangeList(keyRange)); err != nil {
		return nil, err
	}
	applied := keyRange.applied.Load()
	stored, err := readRecord(r.engine.db, r.container, p.locator(r.names[2]))
	if err != nil {
		return nil, err
	}
	if stored != nil {
		// A client may read an item to find out whether its write succeeded, so the response must
		// survive a crash.
		if err := r.engine.waitDurable(keyRange, stored.lsn); err != nil {
			return nil, err
		}
		applied = max(applied, stored.lsn) // it was written since
	}
	answer := (&response{charge: readLeast}).withState(keyRange, applied)
	if stored == nil || stored.expired(r.engine.options.Now().Unix()) {
		return answer, errItemNotFound
	}
	etag, err := stored.etag()
	if err != nil {
		return nil, err
	}
	answer.with("Etag", etag).with("X-Ms-Item-Lsn", strconv.FormatUint(stored.lsn, 10))
	answer.charge = readCharge(len(stored.text))
	if known := r.Header.Get("If-None-Match"); known != "" && matchETag(stored, known) == nil {
		answer.status = http.StatusNotModified
		return answer, nil
	}
	answer.status, answer.body = http.StatusOK, stored.text
	return answer, nil
}

// itemWrite is one write of an item, as requested by HTTP, or a read of one in a batch.
type itemWrite struct {
	operation            string // Create, Upsert, Replace, Patch, Delete or Read
	id                   string // of the existing item; empty for Create and Upsert
	body                 value.Value
	ifMatch, ifNoneMatch string // the latter of reads only
}

// outcome is the result of a write.
type outcome struct {
	status int
	id     string
	record *record // nil after a delete
}

// outcomeOf returns the outcome of an operation that leaves a record.
func outcomeOf(status int, r *record, err error) (outcome, error) {
	if err != nil {
		return outcome{}, err
	}
	root, err := r.value()
	id, _ := root.Get("id").AsString()
	return outcome{status, id, r}, err
}

type operation func(*transaction, itemWrite) (outcome, error)

func (t *transaction) createOperation(w itemWrite) (outcome, error) {
	stored, err := t.create(w.body)
	return outcomeOf(http.StatusCreated, stored, err)
}

func (t *transaction) upsertOperation(w itemWrite) (outcome, error) {
	stored, created, err := t.upsert(w.body, w.ifMatch)
	if created {
		return outcomeOf(http.StatusCreated, stored, err)
	}
	return outcomeOf(http.StatusOK, stored, err)
}

func (t *transaction) replaceOperation(w itemWrite) (outcome, error) {
	stored, err := t.replace(w.id, w.body, w.ifMatch)
	return outcomeOf(http.StatusOK, stored, err)
}

func (t *transaction) deleteOperation(w itemWrite) (outcome, error) {
	return outcome{status: http.StatusNoContent}, t.delete(w.id, w.ifMatch)
}

func (t *transaction) patchOperation(w itemWrite) (outcome, error) {
	p, err := parsePatch(w.body)
	if err != nil {
		return outcome{}, err
	}
	stored, err := t.patch(w.id, p, w.ifMatch)
	return outcomeOf(http.StatusOK, stored, err)
}

func (r *request) replaceItem() (*response, error) {
	return r.writeBody("Replace", (*transaction).replaceOperation)
}

func (r *request) patchItem() (*response, error) {
	return r.writeBody("Patch", (*transaction).patchOperation)
}

func (r *request) deleteItem() (*response, error) {
	return r.write(itemWrite{operation: "Delete"}, (*transaction).deleteOperation)
}

// writeBody parses the request's JSON body and executes a write.
func (r *request) writeBody(name string, f operation) (*response, error) {
	body, err := value.Parse(r.body)
	if err != nil {
		return nil, badRequest("The body is not JSON: %v.", err)
	}
	return r.write(itemWrite{operation: name, body: body}, f)
}

// write executes one write in its own transaction, with the triggers named by the request.
func (r *request) write(w itemWrite, f operation) (*response, error) {
	p, err := r.headerPartition()
	if err != nil {
		return nil, err
	}
	if len(r.names) > 2 {
		w.id = r.names[2]
	}
	w.ifMatch = r.Header.Get("If-Match")
	triggers, err := r.triggers(w.operation)
	if err != nil {
		return nil, err
	}
	var done outcome
	var body []byte
	minimal := !r.wantsBodies()
	work := func(t *transaction) (err error) {
		done, body, err = triggers.execute(r.Context(), t, w, f, minimal)
		return err
	}
	var answer *response
	if scripts := triggers.scripts(); len(scripts) > 0 {
		answer, err = r.transactScripts(p, work, scripts...)
	} else {
		answer, err = r.transact(p, work)
	}
	if err != nil {
		return answer, err
	}
	answer.status = done.status
	if done.record != nil {
		etag, err := done.record.etag()
		if err != nil {
			return nil, err
		}
		answer.with("Etag", etag)
		if !minimal {
			answer.body = body
		}
	}
	return answer, nil
}
