package embedded

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/store/embedded/query"
	"cosmosblog/store/embedded/value"
)

// isQuery tells a query from a write: SDKs differ in how they say it.
func (r *request) isQuery() bool {
	return strings.EqualFold(r.Header.Get("X-Ms-Documentdb-Isquery"), "true") ||
		strings.EqualFold(r.Header.Get("X-Ms-Documentdb-Query"), "true") ||
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/query+json")
}

// parseQuery reads the body of a query: {"query": text, "parameters": [{"name", "value"}]}. fingerprint stands for both.
// Errors: 400, 413.
func (r *request) parseQuery() (bound *query.Bound, fingerprint string, err error) {
	body, err := value.Parse(r.body)
	if err != nil {
		return nil, "", badRequest("The body of the query is not JSON: %v.", err)
	}
	return r.engine.bind(body)
}

func (e *Engine) bind(body value.Value) (*query.Bound, string, error) {
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
	bound, err := parsed.Bind(parameters)
	if err != nil {
		return nil, "", syntaxError(err)
	}
	return bound, fingerprint(text, value.Array(list)), nil
}

// syntaxError tells where a query is wrong, in the service's words for it.
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

// fingerprint is the same for the same query with the same parameters, also after a restart.
func fingerprint(text string, parameters value.Value) string {
	low, _ := murmur3(value.Append([]byte(text), parameters))
	return strconv.FormatUint(low, 36)
}

// queryCache keeps parsed queries by their text. When it is full it begins anew: the texts of an application are few.
type queryCache struct {
	mu     sync.Mutex // held while an entry is added
	parsed atomic.Pointer[sync.Map]
	count  int
}

const (
	queryCacheSize = 1000
	cachedQuery    = 16 << 10 // bytes: longer texts are hardly sent twice
)

func (c *queryCache) parse(text string) (*query.Query, error) {
	if entries := c.parsed.Load(); entries != nil {
		if q, ok := entries.Load(text); ok {
			return q.(*query.Query), nil
		}
	}
	q, err := query.Parse(text)
	if err != nil || len(text) > cachedQuery {
		return q, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parsed.Load() == nil || c.count == queryCacheSize {
		c.parsed.Store(&sync.Map{})
		c.count = 0
	}
	c.parsed.Load().Store(text, q)
	c.count++
	return q, nil
}

// scope is the part of a container that a query may read.
type scope struct {
	partition *partition // one logical partition, or
	keyRange  *keyRange  // one physical range, or, where both are nil, all of them
}

// queryItems answers one page of a query.
func (r *request) queryItems() (*response, error) {
	bound, fingerprint, err := r.parseQuery()
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
	if strings.EqualFold(r.Header.Get("X-Ms-Cosmos-Populateindexmetrics"), "true") {
		answer.with("X-Ms-Cosmos-Index-Utilization", p.index.metrics())
	}
	return answer, nil
}

// pageOf answers a page of a query or of a list, which are told apart by their fingerprints.
func (r *request) pageOf(bound *query.Bound, fingerprint string, s scope) (*response, page, error) {
	ranges := s.ranges(r.container)
	if err := checkSession(r.Header.Get("X-Ms-Session-Token"), ranges); err != nil {
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
	token := sessionTokens(ranges)
	p, err := r.engine.queryPage(r.Context(), r.container, bound, s, from, size)
	if err != nil {
		return nil, page{}, err
	}
	answer := listResponse(r.container.rid, "Documents", p.rows, p.charge(bound, len(ranges)))
	return answer.with("X-Ms-Session-Token", token).withNext(p.next, fingerprint), p, nil
}

// withNext tells where the query or list goes on, if it does.
func (r *response) withNext(next *continuation, fingerprint string) *response {
	if next == nil {
		return r
	}
	next.Fingerprint = fingerprint
	return r.with("X-Ms-Continuation", next.String())
}

// ranges gives the physical ranges that the scope lies in.
func (s scope) ranges(c *container) []*keyRange {
	switch {
	case s.keyRange != nil:
		return rangeList(s.keyRange)
	case s.partition != nil:
		return rangeList(c.rangeOf(s.partition.epk()))
	}
	return c.ranges
}

// queryScope decides what a query may read, and refuses what the gateway cannot answer in one pass.
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
		return scope{keyRange: keyRange}, refuseAcross(bound)
	}
	if p, ok := r.container.pinned(bound.Conditions()); ok {
		return scope{partition: &p}, nil
	}
	if !strings.EqualFold(r.Header.Get("X-Ms-Documentdb-Query-Enablecrosspartition"), "true") {
		return scope{}, badRequest("Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception.")
	}
	return scope{}, refuseAcross(bound)
}

func refuseAcross(bound *query.Bound) error {
	if clause := bound.RefusedAcrossPartitions(); clause != "" {
		return errorf(http.StatusBadRequest, substatusCrossPartition,
			"The provided cross partition query can not be directly served by the gateway. This is a first chance (internal) exception that all newer clients will know how to handle gracefully. The clause that cannot be served: %s.", clause)
	}
	return nil
}

// pinned gives the logical partition that the conditions of a query leave, if it is one.
func (c *container) pinned(conditions []query.Condition) (partition, bool) {
	for _, condition := range conditions {
		if condition.Op == query.Eq && slices.Equal(condition.Path, c.keyPath) {
			key, err := partitionKeyValue(condition.Values[0])
			return newPartition(key), err == nil
		}
	}
	return partition{}, false
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

// continuation says where a query goes on. It is bound to the query's text and parameters.
type continuation struct {
	Fingerprint string         `json:"q"`
	Position    []byte         `json:"p,omitempty"` // of the candidate that was read last
	Progress    query.Progress `json:"n"`
}

func (c *continuation) String() string {
	text, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseContinuation(token, fingerprint string) (continuation, error) {
	var c continuation
	if token == "" {
		return c, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, errBadContinuation
	}
	if c.Fingerprint != fingerprint {
		return c, badRequest("The continuation token belongs to another query.")
	}
	return c, nil
}

// page is what one request of a query gives.
type page struct {
	rows                [][]byte
	next                *continuation // nil at the end
	loaded, loadedBytes int           // items that were read
	size                int           // bytes of the rows
	index               index         // along which the items were found
}

var (
	errPageFull    = errors.New("the page is full")
	errRowTooLarge = errorf(http.StatusRequestEntityTooLarge, 0, "A row of the query's result is too large.")
)

// queryPage runs a query over the committed items until a page is full or there is no more.
func (e *Engine) queryPage(ctx context.Context, c *container, bound *query.Bound, s scope, from continuation, size int) (p page, err error) {
	c, snapshot, err := e.snapshot(c)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	plan, err := c.plan(bound, s)
	if err != nil {
		return p, err
	}
	begun := e.options.Now()
	pages := pager{ctx: ctx, bound: bound, sorted: plan.sorted, across: plan.index.isCreation(), now: begun.Unix(), size: size}
	pages.late = func() bool { return e.options.Now().Sub(begun) > maxQueryTime }
	p, err = pages.page(from, func(position []byte) (candidates, error) { return plan.open(snapshot, position) })
	p.index = plan.index
	return p, err
}

// pager cuts the results of a query into pages.
type pager struct {
	ctx    context.Context // of the request: nobody waits for the page once it is done
	bound  *query.Bound
	sorted bool // the candidates come in the query's order
	across bool // the candidates are all there are: like the service, a full page does not look whether it was the last
	now    int64
	size   int         // rows a page at the most
	late   func() bool // whether the page has taken its time; nil where it may take any
}

// lookEvery is how many items are read between two looks at whether anybody still waits for them.
const lookEvery = 16

// maxQueryTime is how long a page may take (limits page of Azure Cosmos DB: 5 seconds a request); then it ends where it
// is. What must read all items before its first row goes on.
const maxQueryTime = 5 * time.Second

// page gives the page that begins at a continuation. open gives the candidates after a position.
func (g pager) page(from continuation, open func(position []byte) (candidates, error)) (p page, err error) {
	streams := g.bound.Streams() && g.sorted
	if !streams {
		from.Position = nil // the rows are made of all candidates, each time again
	}
	source, err := open(from.Position)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	rows := g.bound.Run(g.documents(&p, source, streams), g.sorted, from.Progress)
	rows.AtMost(g.size)
	for {
		progress := rows.Progress()
		row, ok, err := rows.Next()
		switch {
		case errors.Is(err, errPageFull):
			p.next = &continuation{Position: source.position(), Progress: rows.Progress()}
			return p, nil
		case errors.Is(err, query.ErrTooLarge):
			return p, errRowTooLarge
		case err != nil:
			return p, err
		case !ok && rows.More():
			p.next = &continuation{Progress: rows.Progress()}
			return p, nil
		case !ok:
			return p, nil
		case g.full(&p): // one row too many: it was in memory already
			p.next = &continuation{Progress: progress}
			return p, nil
		}
		p.rows = append(p.rows, row)
		p.size += len(row)
	}
}

// documents feeds a query with the candidates, and counts them. To a query that streams it says errPageFull where the page
// is full and there are more.
func (g pager) documents(p *page, source candidates, streams bool) query.Source {
	return func() (query.Document, bool, error) {
		if streams && g.ends(p) {
			if g.across || source.more() {
				return query.Document{}, false, errPageFull
			}
			return query.Document{}, false, nil
		}
		if p.loaded%lookEvery == 0 && g.ctx.Err() != nil {
			return query.Document{}, false, g.ctx.Err()
		}
		document, ok, err := nextDocument(source, g.now)
		if ok {
			p.loaded++
			p.loadedBytes += len(document.Text)
		}
		return document, ok, err
	}
}

func (g pager) full(p *page) bool { return len(p.rows) >= g.size || p.size > maxPageBytes }

// ends tells whether a page to which rows come as their items are read has enough of them, or took its time for one.
func (g pager) ends(p *page) bool {
	return g.full(p) || p.loaded > 0 && g.late != nil && g.late()
}

// nextDocument gives the next candidate that has not expired.
func nextDocument(candidates candidates, now int64) (query.Document, bool, error) {
	for {
		stored, err := candidates.next()
		if err != nil || stored == nil {
			return query.Document{}, false, err
		}
		if stored.expired(now) {
			continue
		}
		root, err := stored.value()
		return query.Document{Text: stored.text, Root: root}, err == nil, err
	}
}

// charge is the page's price.
func (p *page) charge(bound *query.Bound, ranges int) float64 {
	if bound.CountsOnly() {
		return countCharge(ranges, p.loaded)
	}
	return queryCharge(ranges, p.loaded, p.loadedBytes)
}

// metrics writes the header x-ms-documentdb-query-metrics. Times are not measured.
func (p *page) metrics() string {
	return fmt.Sprintf("totalExecutionTimeInMs=0.00;queryCompileTimeInMs=0.00;queryLogicalPlanBuildTimeInMs=0.00;"+
		"queryPhysicalPlanBuildTimeInMs=0.00;queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs=0.00;indexLookupTimeInMs=0.00;"+
		"documentLoadTimeInMs=0.00;systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;"+
		"retrievedDocumentCount=%d;retrievedDocumentSize=%d;outputDocumentCount=%d;outputDocumentSize=%d;writeOutputTimeInMs=0.00;indexUtilizationRatio=%.2f",
		p.loaded, p.loadedBytes, len(p.rows), p.size, min(1, float64(len(p.rows))/max(1, float64(p.loaded))))
}
