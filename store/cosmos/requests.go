package cosmos

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Request is one request as it was sent to Cosmos DB, retries included. Metadata reads (account, container, ranges) are
// not among them.
type Request struct {
	Container string
	// Operation is read, readMany, query, create, upsert, replace, patch, delete, batch or execute; changeFeed with the
	// projector, which alone reads it.
	Operation     string
	PartitionKeys []string // one; several with readMany alone; none with a query across partitions and a changeFeed
	Charge        float64  // RU
	Status        int      // HTTP; 0 where no answer came

	Begun time.Time // when it was sent, by the clock of this machine
	Retry bool      // the same was sent before, and was refused or not answered
}

// A Recorder is told of every request of a context, or of a Store, when its answer is there. ctx is the one that the
// caller gave to the store, or one made from it. It is called concurrently where requests are.
type Recorder interface {
	Record(ctx context.Context, request Request)
}

type recorderKey struct{}

// WithRecorder gives a context whose requests are recorded. The pipeline records them, not the caller.
func WithRecorder(ctx context.Context, recorder Recorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, recorder)
}

const chargeHeader = "X-Ms-Request-Charge"

// recorderPolicy tells the Store's recorder and the context's of each request that passes it. The Store's own is not told
// the partition keys, which are the users' and take time to find.
type recorderPolicy struct{ own Recorder } // nil where there is none

func (p recorderPolicy) Do(request *policy.Request) (*http.Response, error) {
	ctx := request.Raw().Context()
	recorder, _ := ctx.Value(recorderKey{}).(Recorder)
	if recorder == nil && p.own == nil {
		return request.Next()
	}
	target, ok := TargetOf(request.Raw())
	if !ok {
		return request.Next()
	}
	record := Request{Container: target.Container, Operation: target.Operation, Begun: time.Now(), Retry: countTry(request) > 1}
	var keys []string
	if recorder != nil {
		keys = target.partitionKeys(request)
	}
	response, err := request.Next()
	if err == nil {
		record.Status = response.StatusCode
		record.Charge, _ = strconv.ParseFloat(response.Header.Get(chargeHeader), 64)
	}
	if p.own != nil {
		p.own.Record(ctx, record)
	}
	if recorder != nil {
		record.PartitionKeys = keys
		recorder.Record(ctx, record)
	}
	return response, err
}

// tries is how often a request was sent. It is kept with the request, whose tries share it.
type tries int

func countTry(request *policy.Request) tries {
	var n tries
	request.OperationValue(&n)
	n++
	request.SetOperationValue(n)
	return n
}

// The operations, as Request names them.
const (
	OperationRead       = "read"
	operationReadMany   = "readMany"
	OperationQuery      = "query"
	operationCreate     = "create"
	operationUpsert     = "upsert"
	operationReplace    = "replace"
	operationPatch      = "patch"
	operationDelete     = "delete"
	operationBatch      = "batch"
	operationExecute    = "execute"
	operationChangeFeed = "changeFeed"
)

// The request headers that tell what a request is.
const (
	PartitionKeyHeader = "X-Ms-Documentdb-Partitionkey"
	rangeHeader        = "X-Ms-Documentdb-Partitionkeyrangeid"
	isQueryHeader      = "X-Ms-Documentdb-Query"
	isUpsertHeader     = "X-Ms-Documentdb-Is-Upsert"
	IsBatchHeader      = "X-Ms-Cosmos-Is-Batch-Request"
)

// target is what a request does to which container, as its line and headers tell it.
type target struct{ Container, Operation string }

// TargetOf reads a request. ok is false for metadata: everything but the items of a container and the execution of its
// stored procedures.
func TargetOf(request *http.Request) (t target, ok bool) {
	// /dbs/{database}/colls/{container}/{docs or sprocs}[/{id}]
	part := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	if len(part) < 5 || part[0] != "dbs" || part[2] != "colls" {
		return target{}, false
	}
	t.Container = part[3]
	single := len(part) > 5
	switch {
	case part[4] == "docs" && single:
		t.Operation = itemOperations[request.Method]
	case part[4] == "docs" && request.Method == http.MethodGet:
		t.Operation = operationChangeFeed
	case part[4] == "docs":
		t.Operation = postOperation(request.Header)
	case part[4] == "sprocs" && single && request.Method == http.MethodPost:
		t.Operation = operationExecute
	}
	return t, t.Operation != ""
}

// itemOperations are those on one item's link.
var itemOperations = map[string]string{
	http.MethodGet:    OperationRead,
	http.MethodPut:    operationReplace,
	http.MethodPatch:  operationPatch,
	http.MethodDelete: operationDelete,
}

// postOperation tells apart what is posted to a container's items. A read many is a query that names a range and no
// partition key.
func postOperation(header http.Header) string {
	switch {
	case header.Get(IsBatchHeader) != "":
		return operationBatch
	case header.Get(isUpsertHeader) != "":
		return operationUpsert
	case header.Get(isQueryHeader) == "":
		return operationCreate
	case header.Get(rangeHeader) != "" && header.Get(PartitionKeyHeader) == "":
		return operationReadMany
	}
	return OperationQuery
}

// partitionKeys gives the partition keys that a request names.
func (t target) partitionKeys(request *policy.Request) []string {
	if t.Operation == operationReadMany {
		return readManyKeys(request)
	}
	return partitionKeysOf(request.Raw())
}

func partitionKeysOf(request *http.Request) []string {
	var keys []string
	_ = json.Unmarshal([]byte(request.Header.Get(PartitionKeyHeader)), &keys) // no header: no keys
	return keys
}

// readManyKeys gives the partition keys that a read many asks for, each once, from its query's parameters: azcosmos
// names them @pk0 where all items are of one partition, otherwise @param_pk00, @param_pk10 and so on, and asks by
// @param_id0 alone where the id is the partition key.
func readManyKeys(request *policy.Request) []string {
	var query struct {
		Parameters []struct {
			Name  string `json:"name"`
			Value any    `json:"value"`
		} `json:"parameters"`
	}
	body, err := io.ReadAll(request.Body())
	if err != nil || request.RewindBody() != nil || json.Unmarshal(body, &query) != nil {
		return nil
	}
	var keys, ids []string
	seen := map[string]bool{}
	for _, p := range query.Parameters {
		value, ok := p.Value.(string)
		switch {
		case !ok:
		case strings.HasPrefix(p.Name, "@param_id"):
			ids = append(ids, value)
		case !seen[value]:
			seen[value] = true
			keys = append(keys, value)
		}
	}
	if keys == nil {
		return ids
	}
	return keys
}
