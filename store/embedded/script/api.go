package script

import (
	"context"
	"fmt"
	"time"

	"cosmosblog/store/embedded/value"
)

// Collection is the one transaction, in one logical partition, that a script works in. The links it is given begin with
// its AltLink ("dbs/d/colls/c/docs/id") or with its SelfLink ("dbs/<rid>/colls/<rid>/docs/<rid>"), name one item, and may
// end in a slash; the collection resolves them. The items that it gives have their system properties; a body that it is given
// is a JSON text.
//
// A method that returns an *OperationError tells the script's callback of it; any other error ends the execution, which
// then returns that error as it is. The host calls one method at a time and keeps no slice that it got.
type Collection interface {
	// SelfLink is the collection's link of resource ids ("dbs/<rid>/colls/<rid>/", with a slash at its end on the
	// service), AltLink its link of names ("dbs/d/colls/c", without one). A script must name it in exactly these words.
	SelfLink() string
	AltLink() string
	// Read gives the item of a link; 404 where it is not in the partition.
	Read(link string) (value.Value, error)
	// ReadFeed gives the partition's items, this transaction's writes included, at most pageSize of them (-1: as many
	// as the collection likes), from a continuation that an earlier page gave.
	ReadFeed(continuation string, pageSize int) (Page, error)
	// Query gives the results of a query, the JSON object {"query": …, "parameters": […]}, page by page. It ends with ctx,
	// in which the script's time is counted.
	Query(ctx context.Context, query []byte, continuation string, pageSize int) (Page, error)
	// Create, Upsert and Replace give back the item as it is stored now. With generateID a body without an id, or with
	// an empty or null one, gets a new id. An empty ifMatch compares nothing; otherwise 412 where the item bears another
	// etag.
	Create(body []byte, generateID bool) (value.Value, error)
	Upsert(body []byte, generateID bool, ifMatch string) (item value.Value, created bool, err error)
	Replace(link string, body []byte, ifMatch string) (value.Value, error)
	Delete(link string, ifMatch string) error
}

// Page is one page of a feed or a query: what it has, and where the next page begins, "" after the last one.
type Page struct {
	Items        []value.Value
	Continuation string
}

// OperationError is an operation's failure that a script may handle: its callback gets {number, message, body}.
type OperationError struct {
	Number    int // 400, 403, 404, 409, 412, 413, 449 or 500
	Substatus int // what the protocol says beside the number, for whoever answers a client; the script never sees it
	Message   string
}

func (e *OperationError) Error() string {
	return fmt.Sprintf("operation failed: %d: %s", e.Number, e.Message)
}

// The limits that hold where Options name none. The service gives a script 5 seconds and its response 4 MB (limits
// page of Azure Cosmos DB).
const (
	DefaultTimeout = 5 * time.Second
	DefaultMaxBody = 4 << 20
)

// Options are the limits and switches of one execution. The zero value is what the service does.
type Options struct {
	// Timeout is when the execution is interrupted, whatever it is doing; DefaultTimeout where 0.
	Timeout time.Duration
	// Budget is when operations are no longer accepted, so that a script can end in good order; 4/5 of Timeout where 0.
	Budget time.Duration
	// Accept refuses the n-th operation asked for, counted from 1, by returning false; nil accepts all within Budget.
	Accept func(operation int) bool
	// Fail makes the n-th operation carried out, counted from 1, fail with what it returns instead of being done; nil
	// lets it be done. It is for tests of what scripts do about failures.
	Fail func(operation int) *OperationError
	// Logging records what the script writes to console.log.
	Logging bool
	// Strict makes a rejected promise that nobody handled fail the execution. The service swallows it and commits.
	Strict bool
	// MaxBody is how many bytes of JSON a response body may have; DefaultMaxBody where 0.
	MaxBody int
}

// Result is what a successful execution leaves.
type Result struct {
	Body       []byte // JSON; the text "" where the script set none
	Log        string // what console.log wrote, percent-encoded, one call's text right behind the other's; empty without Options.Logging
	Operations int    // how many operations were carried out, failed ones included
}

// Write is the request that a trigger belongs to.
type Write struct {
	Operation string // "Create", "Replace", "Upsert" or "Delete"
	Body      []byte // the request's item as JSON; empty for a delete
}
