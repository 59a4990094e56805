package engine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"cosmosblog/engine/value"
)

type batchOperation struct {
	write        itemWrite
	do           operation
	partitionKey string // as in the header; empty if the request's header applies
}

// batchResult is the result of one operation of a batch.
type batchResult struct {
	status int
	charge float64
	record *record
}

// readOperation is the Read operation of a batch. Its status is 304 if the item has the etag of a
// condition, also of ifMatch.
func (t *transaction) readOperation(w itemWrite) (outcome, error) {
	stored, err := t.read(w.id)
	isKnown := func(etag string) bool { return etag != "" && matchETag(stored, etag) == nil }
	if err == nil && (w.ifMatch != "*" && isKnown(w.ifMatch) || isKnown(w.ifNoneMatch)) {
		return outcomeOf(http.StatusNotModified, stored, nil)
	}
	return outcomeOf(http.StatusOK, stored, err)
}

// executeBatch executes up to 100 operations in one transaction, unless the request disables
// atomicity. If an operation is rejected, nothing is written: the response is 207, with that
// operation's own status and 424 for all others. It is 207, too, if the status of a read is 304.
func (r *request) executeBatch() (*response, error) {
	operations, err := parseBatch(r.body)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(r.Header.Get("X-Ms-Cosmos-Batch-Atomic"), "false") {
		return r.executeBulk(operations)
	}
	p, err := r.headerPartition()
	if err != nil {
		return nil, err
	}
	if err := r.checkBatchSession(operations, rangeList(r.container.rangeOf(p.epk()))); err != nil {
		return nil, err
	}
	results := make([]batchResult, len(operations))
	ran := false
	size := answerSize{bodies: r.wantsBodies()}
	answer, err := r.transact(p, func(t *transaction) error {
		err := size.run(t, operations, results)
		ran = err == nil
		return err
	})
	rejection, ok := protocolError(err)
	switch {
	case err == nil:
		answer.status = batchStatus(results)
	case ok && answer != nil && !ran: // otherwise the whole batch is rejected and may be retried
		failBatch(results, rejection.Status)
		answer.status = http.StatusMultiStatus
	default:
		return answer, err
	}
	answer.body, err = r.writeBatch(results)
	return answer, err
}

// executeBulk executes operations for any partitions, each in its own transaction. The response
// is 207 if one was rejected. Later operations are executed if the request asks to continue on
// error; otherwise their status is 424.
func (r *request) executeBulk(operations []batchOperation) (*response, error) {
	// This is the range of all operations. It may have been split.
	keyRange, err := r.headerRange()
	if err != nil {
		return nil, err
	}
	if err := r.checkBatchSession(operations, scope{keyRange: keyRange}.ranges(r.container)); err != nil {
		return nil, err
	}
	whole, failed := &response{}, false
	results := make([]batchResult, len(operations))
	size := answerSize{bodies: r.wantsBodies()}
	for i := range operations {
		if failed && !r.headerIsTrue("X-Ms-Cosmos-Batch-Continue-On-Error") {
			results[i].status = http.StatusFailedDependency
			continue
		}
		one, err := r.executeSingle(operations[i:i+1], results[i:i+1], &size)
		if one != nil {
			whole.charge += one.charge
			if len(one.header) > 0 {
				whole.header = one.header
			}
		}
		rejection, ok := protocolError(err)
		switch {
		case ok:
			failed = true
			results[i].status, results[i].record = rejection.Status, nil
		case err != nil:
			return whole, err
		}
	}
	whole.status = batchStatus(results)
	whole.body, err = r.writeBatch(results)
	return whole, err
}

// checkBatchSession is checkSession for a batch. Without a read, the session token has no effect.
func (r *request) checkBatchSession(operations []batchOperation, ranges []*keyRange) error {
	if !slices.ContainsFunc(operations, func(o batchOperation) bool { return o.write.operation == "Read" }) {
		return nil
	}
	return r.checkSession(ranges)
}

// batchStatus returns the status of the response of a batch.
func batchStatus(results []batchResult) int {
	if slices.ContainsFunc(results, func(r batchResult) bool {
		return r.status == http.StatusNotModified || r.status >= http.StatusBadRequest
	}) {
		return http.StatusMultiStatus
	}
	return http.StatusOK
}

// executeSingle executes a slice of exactly one operation.
func (r *request) executeSingle(operation []batchOperation, result []batchResult, size *answerSize) (*response, error) {
	key := operation[0].partitionKey
	if key == "" {
		key = r.Header.Get("X-Ms-Documentdb-Partitionkey")
	}
	p, err := parsePartitionKey(key)
	if err != nil {
		return nil, err
	}
	return r.transact(p, func(t *transaction) error { return size.run(t, operation, result) })
}

// wantsBodies reports whether the response of a write includes the written items.
func (r *request) wantsBodies() bool {
	return !strings.EqualFold(r.Header.Get("Prefer"), "return=minimal")
}

// answerSize counts the bytes of the items in a batch's response.
type answerSize struct {
	bodies bool // count written items too, not only those read
	bytes  int
}

// run executes operations until one is rejected or the response exceeds its maximum size. The
// result of that operation has status 0.
func (s *answerSize) run(t *transaction, operations []batchOperation, results []batchResult) error {
	for i, o := range operations {
		before, bytes := t.charge, 0
		done, err := o.do(t, o.write)
		if done.record != nil && done.status != http.StatusNotModified && (s.bodies || o.write.operation == "Read") {
			bytes = len(done.record.text)
		}
		if err == nil && s.bytes+bytes > maxPageBytes {
			err = errTooLarge
		}
		results[i] = batchResult{done.status, t.charge - before, done.record}
		if err != nil {
			results[i].status = 0
			return err
		}
		s.bytes += bytes
	}
	return nil
}

func failBatch(results []batchResult, status int) {
	failed := false
	for i := range results {
		if results[i].status == 0 && !failed {
			failed = true
			results[i].status = status
		} else {
			results[i].status = http.StatusFailedDependency
		}
		results[i].record = nil
	}
}

func parseBatch(body []byte) ([]batchOperation, error) {
	parsed, err := value.Parse(body)
	if err != nil {
		return nil, badRequest("The body of the batch is not JSON: %v.", err)
	}
	list, ok := parsed.AsArray()
	if !ok || len(list) == 0 || len(list) > maxBatchOperations {
		return nil, badRequest("Batch request has more operations than what is supported, or none: it must be an array of 1 to %d.", maxBatchOperations)
	}
	operations := make([]batchOperation, len(list))
	for i, v := range list {
		if operations[i], err = parseBatchOperation(v); err != nil {
			return nil, err
		}
	}
	return operations, nil
}

var batchOperations = map[string]operation{
	"Create":  (*transaction).createOperation,
	"Upsert":  (*transaction).upsertOperation,
	"Replace": (*transaction).replaceOperation,
	"Patch":   (*transaction).patchOperation,
	"Delete":  (*transaction).deleteOperation,
	"Read":    (*transaction).readOperation,
}

func parseBatchOperation(v value.Value) (batchOperation, error) {
	name, _ := v.Get("operationType").AsString()
	do, ok := batchOperations[name]
	if !ok {
		return batchOperation{}, badRequest("The operationType of each operation of a batch must be Create, Upsert, Replace, Patch, Delete or Read.")
	}
	o := batchOperation{write: itemWrite{operation: name, body: v.Get("resourceBody")}, do: do}
	o.write.id, _ = v.Get("id").AsString()
	o.write.ifMatch, _ = v.Get("ifMatch").AsString()
	o.write.ifNoneMatch, _ = v.Get("ifNoneMatch").AsString()
	if o.write.ifNoneMatch != "" && name != "Read" {
		return batchOperation{}, badRequest("Operations of a batch that write, with ifNoneMatch, are not supported by this engine.")
	}
	o.partitionKey, _ = v.Get("partitionKey").AsString()
	return o, nil
}

// writeBatch writes the results as a JSON array.
func (r *request) writeBatch(results []batchResult) ([]byte, error) {
	bodies, body := r.wantsBodies(), []byte{'['}
	for i, result := range results {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"statusCode":%d,"requestCharge":%.2f`, result.status, result.charge)
		if result.record != nil {
			etag, err := result.record.etag()
			if err != nil {
				return nil, err
			}
			body = value.AppendString(append(body, `,"eTag":`...), etag)
			if bodies && result.status != http.StatusNotModified {
				body = append(append(body, `,"resourceBody":`...), result.record.text...)
			}
		}
		body = append(body, '}')
	}
	return append(body, ']'), nil
}
