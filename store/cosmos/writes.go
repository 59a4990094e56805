package cosmos

import (
	"net/http"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Written is called after each write that this process sent to the items of a container, before the
// caller gets the answer: also if the write failed, or if its outcome is unknown. token is the
// session token of the answer, or empty if later reads must not be sent with it. Written may be
// called concurrently, and must not block.
type Written func(container string, partitions []string, token string)

// NotifyWrites sets the function that is called after each write of the DB. It replaces the former
// one.
func (db *DB) NotifyWrites(written Written) { db.writes.Store(&written) }

// writePolicy calls the function of NotifyWrites.
type writePolicy struct{ written *atomic.Pointer[Written] }

func (p writePolicy) Do(request *policy.Request) (*http.Response, error) {
	response, err := request.Next()
	written := p.written.Load()
	if written == nil {
		return response, err
	}
	target, ok := TargetOf(request.Raw())
	if !ok || target.isRead() {
		return response, err
	}
	token := ""
	if err == nil && hasUsableToken(response) {
		token = response.Header.Get(SessionTokenHeader)
	}
	(*written)(target.Container, partitionKeysOf(request.Raw()), token)
	return response, err
}

func (t target) isRead() bool {
	switch t.Operation {
	case OperationRead, OperationReadMany, OperationQuery, operationChangeFeed:
		return true
	}
	return false
}
