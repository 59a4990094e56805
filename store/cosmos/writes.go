package cosmos

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Written is called after each write that this process sent to the items of a container, before the
// caller gets the answer: also if the write failed, or if its outcome is unknown. token is the
// session token of the answer, or empty if later reads must not be sent with it. Written may be
// called concurrently, and must not block.
type Written func(container string, partitions []string, token string)

// NotifyWrites adds a function that is called after each write of the DB, until stop is called.
func (db *DB) NotifyWrites(written Written) (stop func()) { return db.writes.add(written) }

// writeObservers are the functions of NotifyWrites. They may be used concurrently.
type writeObservers struct {
	mu  sync.Mutex // serializes changes
	all atomic.Pointer[[]*Written]
}

// load returns the functions, which must not be changed.
func (o *writeObservers) load() []*Written {
	if all := o.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (o *writeObservers) add(written Written) (remove func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	added := append(slices.Clip(o.load()), &written)
	o.all.Store(&added)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		rest := slices.DeleteFunc(slices.Clone(o.load()), func(other *Written) bool { return other == &written })
		o.all.Store(&rest)
	}
}

// writePolicy calls the functions of NotifyWrites.
type writePolicy struct{ observers *writeObservers }

func (p writePolicy) Do(request *policy.Request) (*http.Response, error) {
	response, err := request.Next()
	observers := p.observers.load()
	if len(observers) == 0 {
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
	partitions := partitionKeysOf(request.Raw())
	for _, written := range observers {
		(*written)(target.Container, partitions, token)
	}
	return response, err
}

func (t target) isRead() bool {
	switch t.Operation {
	case OperationRead, OperationReadMany, OperationQuery, operationChangeFeed:
		return true
	}
	return false
}
