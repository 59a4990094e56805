package cosmos

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// target is the container and the operation of a request.
type target struct{ Container, Operation string }

// TargetOf derives the target of a request from its method, path and headers. ok is false for
// metadata: all requests except those to the items of a container and executions of its
// procedures.
func TargetOf(request *http.Request) (t target, ok bool) {
	// /dbs/{database}/colls/{container}/{docs or sprocs}[/{id}]
	var part [6]string
	parts := 0
	for text := range strings.SplitSeq(strings.Trim(request.URL.Path, "/"), "/") {
		if parts == len(part) {
			break // the rest of an id with slashes
		}
		part[parts] = text
		parts++
	}
	if parts < 5 || part[0] != "dbs" || part[2] != "colls" {
		return target{}, false
	}
	t.Container = part[3]
	single := parts == len(part)
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

// Operations, as Request names them.
const (
	OperationRead       = "read"
	OperationReadMany   = "readMany"
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

// Request headers that identify the operation and its partitions.
const (
	PartitionKeyHeader = "X-Ms-Documentdb-Partitionkey"
	rangeHeader        = "X-Ms-Documentdb-Partitionkeyrangeid"
	isQueryHeader      = "X-Ms-Documentdb-Query"
	isUpsertHeader     = "X-Ms-Documentdb-Is-Upsert"
	IsBatchHeader      = "X-Ms-Cosmos-Is-Batch-Request"
)

// itemOperations are the operations on the link of one item.
var itemOperations = map[string]string{
	http.MethodGet:    OperationRead,
	http.MethodPut:    operationReplace,
	http.MethodPatch:  operationPatch,
	http.MethodDelete: operationDelete,
}

// postOperation returns the operation of a POST to the items of a container. A read many is a
// query with a partition key range but no partition key.
func postOperation(header http.Header) string {
	switch {
	case header.Get(IsBatchHeader) != "":
		return operationBatch
	case header.Get(isUpsertHeader) != "":
		return operationUpsert
	case header.Get(isQueryHeader) == "":
		return operationCreate
	case header.Get(rangeHeader) != "" && header.Get(PartitionKeyHeader) == "":
		return OperationReadMany
	}
	return OperationQuery
}

// partitionKeys returns the partition keys of a request.
func (t target) partitionKeys(request *policy.Request) []string {
	if t.Operation == OperationReadMany {
		return readManyKeys(request)
	}
	return partitionKeysOf(request.Raw())
}

func partitionKeysOf(request *http.Request) []string {
	var keys []string
	_ = json.Unmarshal([]byte(request.Header.Get(PartitionKeyHeader)), &keys) // no header: no keys
	return keys
}

// readManyKeys returns the partition keys of a read many, each once, from the parameters of its
// query. azcosmos names them @pk0 if all items are in one partition, and @param_pk00,
// @param_pk10 and so on otherwise. If the id is the partition key, there are only parameters
// @param_id0 and so on.
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
