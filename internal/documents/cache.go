package documents

import (
	"container/list"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
	"cosmosblog/internal/price"
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

// The memory in bytes that one document takes at most, besides its text and the formula of its
// price: for each token, and for the document itself. TestKnownDocumentsAreCharged measures it.
const (
	bytesPerToken    = 250
	bytesPerDocument = 2 << 10
)

// documentKey identifies an operation of a document.
type documentKey struct{ query, operationName string }

// Document is a valid document with one of its operations. Only its selections change.
type Document struct {
	AST        *ast.QueryDocument
	Operation  *ast.OperationDefinition // nil if the document has none of the requested name
	price      *price.Formula           // nil if it must be computed for each request
	selections *graph.Selections        // nil if the price is nil

	AsksOfViewer bool // whether the operation selects a field that depends on the signed-in user
	ReadsViews   bool // whether the operation selects a field of a view
}

// knownDocuments is a cache of documents. If it is full, it removes those whose last use was
// the longest ago. The zero value is empty. It may be used concurrently.
type knownDocuments struct {
	mu    sync.Mutex
	byKey map[documentKey]*list.Element
	order list.List // of *entry, the last used first
	bytes int
}

// entry is a document in knownDocuments, with the bytes that it is charged.
type entry struct {
	documentKey
	*Document
	bytes int
}

// find returns a document, or nil.
func (k *knownDocuments) find(key documentKey) *Document {
	k.mu.Lock()
	defer k.mu.Unlock()
	element := k.byKey[key]
	if element == nil {
		return nil
	}
	k.order.MoveToFront(element)
	return element.Value.(*entry).Document
}

// add adds a document with a number of tokens, unless it is too long or known.
func (k *knownDocuments) add(key documentKey, document *Document, tokens int) {
	if tokens > maxDocumentTokens || len(key.query) > MaxBytes {
		return
	}
	added := &entry{key, document, chargeOf(key, document, tokens)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byKey == nil {
		k.byKey = map[documentKey]*list.Element{}
	}
	if k.byKey[key] != nil {
		return
	}
	k.byKey[key] = k.order.PushFront(added)
	for k.bytes += added.bytes; k.bytes > maxKnownBytes; {
		oldest := k.order.Remove(k.order.Back()).(*entry)
		delete(k.byKey, oldest.documentKey)
		k.bytes -= oldest.bytes
	}
}

// chargeOf returns the memory in bytes that a known document takes at most.
func chargeOf(key documentKey, document *Document, tokens int) int {
	charge := len(key.query) + len(key.operationName) + bytesPerDocument + tokens*bytesPerToken
	if document.price != nil {
		charge += document.price.Bytes() + tokens*graph.SelectionBytes
	}
	return charge
}
