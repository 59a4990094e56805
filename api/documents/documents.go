// Package documents reads the documents of GraphQL requests: it parses, validates and prices them,
// and caches valid ones.
package documents

import (
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/coercion"
	"cosmosblog/api/documents/syntax"
	"cosmosblog/graph"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/price"
)

// Documents parses, validates and prices queries, and caches valid ones. gqlgen would parse and
// validate in one step, although the time and memory of some validation rules grow with the square
// of a query. Here, queries above the limits are rejected before validation. It may be used
// concurrently.
type Documents struct {
	limits      limits.Limits
	development bool
	schema      *ast.Schema
	prices      *price.Checker
	known       knownDocuments

	texts  Manifest // of all manifests
	pinned map[documentKey]*Document
	only   bool // all documents that are not pinned are rejected
}

// New returns the documents of the API's schema. In development, they may contain introspection,
// and errors suggest names of the schema.
func New(l limits.Limits, development bool) *Documents {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	return &Documents{
		limits: l, development: development, schema: schema, prices: price.NewChecker(schema, l),
		texts: Manifest{}, pinned: map[documentKey]*Document{},
	}
}

// Read returns the document of a query, parsed and validated, with the operation of a name.
// Otherwise it returns at most Limits.Errors errors: FORBIDDEN if it must be in the manifest, and
// is not. If the document has no such operation, the operation is nil.
func (d *Documents) Read(query, operationName string) (*Document, gqlerror.List) {
	key := documentKey{query, operationName}
	if known := d.pinned[key]; known != nil {
		return known, nil
	}
	if d.only && !d.isListed(query) {
		return nil, gqlerror.List{gqlerror.WrapIfUnwrapped(errNotListed)}
	}
	if known := d.known.find(key); known != nil {
		return known, nil
	}
	if len(query) <= d.limits.QueryBytes {
		// The query is a part of the request's body, which the cache must not keep in memory.
		key = documentKey{strings.Clone(query), strings.Clone(operationName)}
	}
	document, tokens, errs := d.parse(key.query)
	if errs == nil {
		errs = d.check(document)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	known := d.prepare(key, document, tokens)
	if known.Operation != nil {
		d.known.add(known, tokens)
	}
	return known, nil
}

// IsSubscription reports whether Read returns a subscription, if the document is valid. It does not
// validate it: whoever executes a subscription does, if the client's share of the processors
// permits.
func (d *Documents) IsSubscription(query, operationName string) bool {
	if !strings.Contains(query, string(ast.Subscription)) { // as in nearly all requests
		return false
	}
	key := documentKey{query, operationName}
	for _, known := range []*Document{d.pinned[key], d.known.find(key)} {
		if known != nil {
			return known.Operation != nil && known.Operation.Operation == ast.Subscription
		}
	}
	if d.only {
		return false
	}
	document, _, err := syntax.Parse(query, d.limits)
	if err != nil {
		return false
	}
	operation := document.Operations.ForName(operationName)
	return operation != nil && operation.Operation == ast.Subscription
}

// Hold keeps a document for a stream. It returns the one that equal streams share, and a function
// that ends the hold; only its first call has an effect. In between, Read returns that document,
// however large it is and whatever else is read.
func (d *Documents) Hold(known *Document) (shared *Document, release func()) {
	return d.known.hold(known)
}

// check validates a document, and converts its values if it is valid. It returns at most
// Limits.Errors errors.
func (d *Documents) check(document *ast.QueryDocument) gqlerror.List {
	errs := d.validate(document)
	if len(errs) == 0 {
		coercion.Convert(d.schema, document)
		return nil
	}
	coercion.NameFields(document, errs)
	for _, err := range errs {
		errcode.Set(err, errcode.ValidationFailed) // by which the ErrorPresenter recognizes errors of the client
	}
	return errs
}

// prepare returns a valid document, which has a number of tokens, with the operation of a key.
func (d *Documents) prepare(key documentKey, document *ast.QueryDocument, tokens int) *Document {
	known := &Document{key: key, AST: document, Operation: document.Operations.ForName(key.operationName)}
	if known.Operation != nil {
		known.AsksOfViewer = selects(d.schema, document, known.Operation, viewerDirective)
		known.ReadsViews = selects(d.schema, document, known.Operation, viewDirective)
		known.price = d.prices.Constant(document, known.Operation)
		if !price.HasConditions(known.Operation) {
			known.selections = graph.NewSelections(tokens)
		}
	}
	known.Bytes = chargeOf(known, tokens)
	known.validation = workOf(key.query, tokens)
	return known
}

// workOf returns the processor time of parsing and validating a query with a number of tokens, at
// most.
func workOf(query string, tokens int) time.Duration {
	return time.Duration(tokens)*validationPerToken + time.Duration(len(query)>>10)*validationPerKiB
}

// RefusedWork returns the processor time of reading a query that is refused, at most, if its tokens
// have a usual length.
func (d *Documents) RefusedWork(query string) time.Duration {
	const bytesOfToken = 4
	return workOf(query, min(len(query)/bytesOfToken, d.limits.Tokens))
}

// parse returns the document of a query, and its number of tokens. It fails if the query is
// malformed or above a limit.
func (d *Documents) parse(query string) (*ast.QueryDocument, int, gqlerror.List) {
	document, tokens, err := syntax.Parse(query, d.limits)
	if err != nil {
		return nil, 0, gqlerror.List{err}
	}
	if err := checkTree(document, d.limits); err != nil {
		return nil, 0, gqlerror.List{err}
	}
	return document, tokens, nil
}

// Schema returns the schema that documents are validated against.
func (d *Documents) Schema() *ast.Schema { return d.schema }

// Prepare computes the price of an operation of a known document, and passes on what the document's
// preparation has found. It returns an error if the price is above the limit.
func (d *Documents) Prepare(operation *graphql.OperationContext, known *Document) *gqlerror.Error {
	if err := d.prices.Check(operation, known.price); err != nil {
		return err
	}
	if known.selections != nil {
		graph.SetSelections(operation, known.selections)
	}
	return nil
}
