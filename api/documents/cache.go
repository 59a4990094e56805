package documents

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
	"cosmosblog/guard/price"
)

// The bounds of the cache of documents. Clients send few distinct queries, with variables, over and
// over. A query with its values in its text is long and never repeats, so long queries are not
// cached.
const (
	maxKnownBytes     = 32 << 20
	maxDocumentTokens = 400
)

// MaxBytes is the length of the longest query that is cached.
const MaxBytes = 16 << 10

// The memory in bytes that one document takes at most, besides its text and the values of its texts
// with escapes: for each token, and for the document itself.
// TestKnownDocumentsAreCharged and TestHeldDocumentsAreCharged measure it.
const (
	bytesPerToken    = 250
	bytesPerDocument = 2 << 10
)

// The processor time of parsing and validating a document, at most: for each token, because the
// fields of one name are compared with one another, and for each KiB. BenchmarkReadLarge measures
// it.
const (
	validationPerToken = 25 * time.Microsecond
	validationPerKiB   = 20 * time.Microsecond
)

// documentKey identifies an operation of a document.
type documentKey struct{ query, operationName string }

// Document is a valid document with one of its operations. Only its selections change: nothing that
// executes an operation writes to the rest, so any number of requests and streams may share it.
type Document struct {
	key        documentKey
	AST        *ast.QueryDocument
	Operation  *ast.OperationDefinition // nil if the document has none of the requested name
	price      *price.Price             // nil if it must be computed for each request
	selections *graph.Selections        // nil if they depend on a variable

	AsksOfViewer bool // whether the operation selects a field that depends on the signed-in user
	ReadsViews   bool // whether the operation selects a field of a view
	Bytes        int  // the memory that the document takes at most, with its text

	validation time.Duration // the processor time of parsing and validating it, at most
	isCharged  atomic.Bool   // somebody has paid for that
}

// Charge returns the processor time of parsing and validating the document, at most, if nobody has
// paid for it so far, and otherwise 0.
func (d *Document) Charge() time.Duration {
	if d.isCharged.Swap(true) {
		return 0
	}
	return d.validation
}

// Query returns the text of the document.
func (d *Document) Query() string { return d.key.query }

// OperationName returns the requested name of the operation, which may be empty.
func (d *Document) OperationName() string { return d.key.operationName }

// knownDocuments is a cache of documents. If it is full, it removes those whose last use was
// the longest ago. The zero value is empty. It may be used concurrently.
type knownDocuments struct {
	mu    sync.Mutex
	byKey map[documentKey]*list.Element
	order list.List // of *Document, the last used first
	bytes int
	held  map[documentKey]*heldDocument
}

// heldDocument is a document that streams hold.
type heldDocument struct {
	*Document
	holders int
}

// find returns a document, or nil.
func (k *knownDocuments) find(key documentKey) *Document {
	k.mu.Lock()
	defer k.mu.Unlock()
	if element := k.byKey[key]; element != nil {
		k.order.MoveToFront(element)
		return element.Value.(*Document)
	}
	if held := k.held[key]; held != nil {
		return held.Document
	}
	return nil
}

// hold returns the document that streams share which is equal to a document, and a function that
// must be called at the end of the stream.
func (k *knownDocuments) hold(document *Document) (shared *Document, release func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	held := k.held[document.key]
	if held == nil {
		if k.held == nil {
			k.held = map[documentKey]*heldDocument{}
		}
		held = &heldDocument{Document: document}
		k.held[document.key] = held
	}
	held.holders++
	return held.Document, sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if held.holders--; held.holders == 0 {
			delete(k.held, held.key)
		}
	})
}

// add adds a document with a number of tokens, unless it is too long or known.
func (k *knownDocuments) add(added *Document, tokens int) {
	key := added.key
	if tokens > maxDocumentTokens || len(key.query) > MaxBytes {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byKey == nil {
		k.byKey = map[documentKey]*list.Element{}
	}
	if k.byKey[key] != nil {
		return
	}
	k.byKey[key] = k.order.PushFront(added)
	for k.bytes += added.Bytes; k.bytes > maxKnownBytes; {
		oldest := k.order.Remove(k.order.Back()).(*Document)
		delete(k.byKey, oldest.key)
		k.bytes -= oldest.Bytes
	}
}

// chargeOf returns the memory in bytes that a document with a number of tokens takes at most.
func chargeOf(document *Document, tokens int) int {
	key := document.key
	charge := 2*len(key.query) + len(key.operationName) + bytesPerDocument + tokens*bytesPerToken
	if document.selections != nil {
		charge += tokens * graph.SelectionBytes
	}
	return charge
}
