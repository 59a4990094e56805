package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cosmosblog/engine/query"
	"cosmosblog/engine/value"
)

// IsQuery reports whether the headers of a POST mark it as a query. SDKs use different headers.
func IsQuery(header http.Header) bool {
	return isTrue(header, "X-Ms-Documentdb-Isquery") ||
		isTrue(header, "X-Ms-Documentdb-Query") ||
		strings.HasPrefix(header.Get("Content-Type"), "application/query+json")
}

// parseQuery parses a query: {"query": text, "parameters": [{"name", "value"}]}. The fingerprint
// identifies text and parameters. Errors: 400, 413.
func (e *Engine) parseQuery(from []byte) (bound *query.Bound, fingerprint string, err error) {
	body, err := value.Parse(from)
	if err != nil {
		return nil, "", badRequest("The body of the query is not JSON: %v.", err)
	}
	text, ok := body.Get("query").AsString()
	if !ok {
		return nil, "", badRequest("The body of a query needs the property 'query'.")
	}
	if len(text) > query.MaxText {
		return nil, "", errTooLarge
	}
	parameters := query.Parameters{}
	list, _ := body.Get("parameters").AsArray()
	for _, p := range list {
		name, ok := p.Get("name").AsString()
		if !ok {
			return nil, "", badRequest("Each parameter of a query needs a name and a value.")
		}
		parameters[name] = p.Get("value")
	}
	parsed, err := e.queries.parse(text)
	if err != nil {
		return nil, "", syntaxError(err)
	}
	if bound, err = parsed.Bind(parameters); err != nil {
		return nil, "", syntaxError(err)
	}
	return bound, fingerprintOf(text, value.Array(list)), nil
}

// syntaxError reports the position of a syntax error in the service's format.
func syntaxError(err error) error {
	syntax, ok := errors.AsType[*query.SyntaxError](err)
	if !ok {
		return err
	}
	message, _ := json.Marshal(map[string]any{"errors": []map[string]any{{
		"severity": "Error",
		"location": map[string]int{"start": syntax.Offset, "end": syntax.Offset + 1},
		"code":     "SC1001",
		"message":  fmt.Sprintf("Syntax error, %v.", syntax),
	}}})
	return errorf(http.StatusBadRequest, 0, "%s", message)
}

// fingerprintOf returns the same fingerprint for the same query and parameters, even after a
// restart.
func fingerprintOf(text string, parameters value.Value) string {
	low, _ := murmur3(value.Append([]byte(text), parameters))
	return strconv.FormatUint(low, 36)
}

// queryCache caches parsed queries by their text. A full cache is emptied, because an
// application uses few texts.
type queryCache struct {
	mu     sync.RWMutex
	parsed map[string]*query.Query
}

const (
	queryCacheSize = 1000
	cachedQuery    = 16 << 10 // bytes; longer texts are rarely sent twice
)

func (c *queryCache) parse(text string) (*query.Query, error) {
	c.mu.RLock()
	q := c.parsed[text]
	c.mu.RUnlock()
	if q != nil {
		return q, nil
	}
	if len(text) > cachedQuery {
		return query.Parse(text)
	}
	text = strings.Clone(text) // a part of the request's body, which the cache must not keep in memory
	q, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parsed == nil || len(c.parsed) == queryCacheSize {
		c.parsed = make(map[string]*query.Query)
	}
	c.parsed[text] = q
	return q, nil
}

// scope is the part of a container that a query may read.
type scope struct {
	partition *partition // one logical partition, or
	keyRange  *keyRange  // one physical range; if both are nil, all of them
}

// queryItems returns one page of a query.
func (r *request) queryItems() (*response, error) {
	bound, fingerprint, err := r.engine.parseQuery(r.body)
	if err != nil {
		return nil, err
	}
	s, err := r.queryScope(bound)
	if err != nil {
		return nil, err
	}
	answer, p, err := r.pageOf(bound, fingerprint, s)
	if err != nil {
		return nil, err
	}
	answer.with("X-Ms-Documentdb-Query-Metrics", p.metrics())
	if r.headerIsTrue("X-Ms-Cosmos-Populateindexmetrics") {
		answer.with("X-Ms-Cosmos-Index-Utilization", p.index.metrics())
	}
	return answer, nil
}

// pageOf returns one page of a query or of a list, which have different fingerprints.
func (r *request) pageOf(bound *query.Bound, fingerprint string, s scope) (*response, page, error) {
	ranges := s.ranges(r.container)
	if err := r.checkSession(ranges); err != nil {
		return nil, page{}, err
	}
	from, err := parseContinuation(r.Header.Get("X-Ms-Continuation"), fingerprint)
	if err != nil {
		return nil, page{}, err
	}
	size, err := r.pageSize(defaultPageSize)
	if err != nil {
		return nil, page{}, err
	}
	limit, err := r.tokenLimit()
	if err != nil {
		return nil, page{}, err
	}
	lsn, tokens := ranges[0].applied.Load(), ""
	if len(ranges) > 1 {
		tokens = sessionTokens(ranges)
	}
	p, err := r.engine.queryPage(r.Context(), r.container, bound, s, from, size)
	if err != nil {
		return nil, page{}, err
	}
	answer := listResponse(r.container.rid, "Documents", p.rows, p.charge(bound, len(ranges)))
	if len(ranges) > 1 {
		answer.with("X-Ms-Session-Token", tokens)
	} else {
		answer.withState(ranges[0], lsn)
	}
	next := p.next.token(fingerprint)
	if len(next) > limit {
		return answer, p, badRequest("The continuation token limit specified is not large enough. Raise x-ms-documentdb-responsecontinuationtokenlimitinkb.")
	}
	return answer.withNext(next), p, nil
}

// withNext adds the continuation header if more pages follow: if next is not empty.
func (r *response) withNext(next string) *response {
	if next == "" {
		return r
	}
	return r.with("X-Ms-Continuation", next)
}

// ranges returns the physical ranges of the scope.
func (s scope) ranges(c *container) []*keyRange {
	switch {
	case s.keyRange != nil:
		return rangeList(s.keyRange)
	case s.partition != nil:
		return rangeList(c.rangeOf(s.partition.epk()))
	}
	return c.ranges
}

// queryScope returns the part of the container that a query reads. It rejects queries that the
// gateway cannot answer in one pass.
func (r *request) queryScope(bound *query.Bound) (scope, error) {
	keyRange, err := r.headerRange()
	if err != nil {
		return scope{}, err
	}
	if r.Header.Get("X-Ms-Documentdb-Partitionkey") != "" {
		p, err := r.headerPartition()
		return scope{partition: &p}, err
	}
	if keyRange != nil {
		return scope{keyRange: keyRange}, nil
	}
	if p, ok := r.container.pinnedPartition(bound.Conditions()); ok {
		return scope{partition: &p}, nil
	}
	if !r.headerIsTrue("X-Ms-Documentdb-Query-Enablecrosspartition") {
		return scope{}, badRequest("Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception.")
	}
	return scope{}, rejectCrossPartition(bound)
}

func rejectCrossPartition(bound *query.Bound) error {
	if clause := bound.RejectedAcrossPartitions(); clause != "" {
		return errorf(http.StatusBadRequest, substatusCrossPartition,
			"The provided cross partition query can not be directly served by the gateway. This is a first chance (internal) exception that all newer clients will know how to handle gracefully. The clause that cannot be served: %s.", clause)
	}
	return nil
}

// pinnedPartition returns the logical partition to which conditions restrict a query, if there
// is exactly one.
func (c *container) pinnedPartition(conditions []query.Condition) (partition, bool) {
	for _, condition := range conditions {
		if condition.Op == query.Eq && slices.Equal(condition.Path, c.keyPath) {
			key, err := partitionKeyValue(condition.Values[0])
			return newPartition(key), err == nil
		}
	}
	return partition{}, false
}

// tokenLimit returns how many bytes a continuation may have. The service leaves out parts of its
// continuations to keep the limit, and answers 400 if the rest does not fit (dotnet-v3,
// EmulatorTests/QueryTests.cs and CosmosItemTests.cs, NegativeQueryTest). The engine's have no such
// parts. Error: 400.
func (r *request) tokenLimit() (int, error) {
	text := r.Header.Get("X-Ms-Documentdb-Responsecontinuationtokenlimitinkb")
	if text == "" {
		return math.MaxInt, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, badRequest("Please pass in a valid continuation token size limit which must be a positive integer.")
	}
	return int(n) << 10, nil
}

// pageSize reads the header x-ms-max-item-count.
func (r *request) pageSize(byDefault int) (int, error) {
	text := r.Header.Get("X-Ms-Max-Item-Count")
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n == 0 || n < -1:
		return 0, badRequest("x-ms-max-item-count must be -1 or a number above 0.")
	case n == -1 || n > maxPageSize:
		return maxPageSize, nil
	}
	return n, nil
}
