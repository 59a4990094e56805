package script

import (
	"context"
	"fmt"
	"time"

	"cosmosblog/engine/value"
)

// Collection is the transaction of a script, in one logical partition.
//
// Links start with AltLink ("dbs/d/colls/c/docs/id") or with SelfLink
// ("dbs/<rid>/colls/<rid>/docs/<rid>"), name one item, and may end in a slash. The Collection
// resolves them. The items it returns have their system properties.
//
// If a method returns an *OperationError, the callback of the script gets it. Any other error
// ends the execution, which returns the error unchanged. Methods are never called concurrently,
// and slices returned by a Collection are not retained.
type Collection interface {
	// SelfLink returns the collection's link of resource ids ("dbs/<rid>/colls/<rid>/", with a
	// trailing slash in the service). AltLink returns its link of names ("dbs/d/colls/c", without a
	// trailing slash). A script must pass exactly one of these texts.
	SelfLink() string
	AltLink() string
	// Read returns the item of a link. It fails with 404 if the item is not in the partition.
	Read(link string) (value.Value, error)
	// ReadFeed returns a page of at most pageSize items of the partition, including writes of this
	// transaction. If pageSize is -1, the collection chooses the size. continuation is empty or
	// comes from an earlier page.
	ReadFeed(continuation string, pageSize int) (Page, error)
	// Query returns a page of the results of a query, given as the JSON object {"query": …,
	// "parameters": […]}. It stops when ctx ends, at the script's time limit.
	Query(ctx context.Context, query []byte, continuation string, pageSize int) (Page, error)
	// Create, Upsert and Replace return the stored item. If generateID is true, a body with a
	// missing, empty or null id gets a new id. If ifMatch is not empty and differs from the item's
	// etag, Upsert, Replace and Delete fail with 412.
	Create(item value.Value, generateID bool) (value.Value, error)
	Upsert(item value.Value, generateID bool, ifMatch string) (stored value.Value, created bool, err error)
	Replace(link string, item value.Value, ifMatch string) (value.Value, error)
	Delete(link string, ifMatch string) error
}

// Page is a page of a feed or a query. Continuation is the start of the next page, or "" after
// the last one.
type Page struct {
	Items        []value.Value
	Continuation string
}

// OperationError is a failed operation that a script may handle. Its callback gets {number,
// message, body}.
type OperationError struct {
	Number    int // 400, 403, 404, 409, 412, 413, 449 or 500
	Substatus int // substatus code for the HTTP response; not visible to the script
	Message   string
}

func (e *OperationError) Error() string {
	return fmt.Sprintf("operation failed: %d: %s", e.Number, e.Message)
}

// The default limits. The service allows a script 5 seconds and a response of 4 MB (limits page
// of Azure Cosmos DB).
const (
	DefaultTimeout = 5 * time.Second
	DefaultMaxBody = 4 << 20
)

// Options are the limits and switches of an execution. The zero value corresponds to the
// service.
type Options struct {
	// Timeout is the time after which the execution is interrupted; 0 means DefaultTimeout.
	Timeout time.Duration
	// Budget is the time after which operations are rejected, so that a script can end gracefully;
	// 0 means 4/5 of Timeout.
	Budget time.Duration
	// Accept rejects the n-th requested operation, counted from 1, by returning false. If it is
	// nil, all operations within Budget are accepted.
	Accept func(operation int) bool
	// Fail replaces the n-th performed operation, counted from 1, with the failure it returns. If
	// Fail or its result is nil, the operation is performed. It is for tests of a script's error
	// handling.
	Fail func(operation int) *OperationError
	// Before is called before the n-th operation, counted from 1, is performed, and once more after
	// the last one. A test can run other requests in it, if the caller has locked nothing.
	Before func(operation int)
	// Logging records the output of console.log.
	Logging bool
	// Strict fails the execution if a rejected promise is not handled. The service ignores the
	// rejection and commits.
	Strict bool
	// Now is the clock of Date; time.Now if nil.
	Now func() time.Time
	// MaxBody is the maximum size of a response body in bytes of JSON; 0 means DefaultMaxBody.
	MaxBody int
}

// Result is the result of an execution.
type Result struct {
	// Body is the response as JSON; it is the JSON string "" if the script set none.
	Body []byte
	// Log is the percent-encoded output of console.log. Calls are not separated. It is empty
	// unless Options.Logging is set.
	Log string
	// Operations is the number of performed operations, including failed ones.
	Operations int
}

// Write is the write request that runs a trigger.
type Write struct {
	Operation string // "Create", "Replace", "Upsert" or "Delete"
	Body      []byte // the request's item as JSON; empty for a delete
}
