package embedded

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"cosmosblog/store/embedded/query"
)

// continuation says where a query goes on. It is bound to the query's text and parameters.
type continuation struct {
	Fingerprint string         `json:"q"`
	Along       string         `json:"a,omitempty"` // the way on which candidates were read: see plan.along
	Position    []byte         `json:"p,omitempty"` // on that way, of the candidate that was read last
	Progress    query.Progress `json:"n"`
}

// maxPosition is how long a position may be in a continuation, which travels in a header: that in an index of long texts is
// longer, and the rows are counted instead.
const maxPosition = 4 << 10

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
	errWayChanged  = badRequest("The indexing policy was changed since the continuation token was given: the query must begin anew.")
	errRowTooLarge = errorf(http.StatusRequestEntityTooLarge, 0, "A row of the query's result is too large, or takes too long to make.")
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
	pages := pager{ctx: ctx, bound: bound, along: plan.along(), sorted: plan.sorted, across: plan.index.isCreation(), now: begun.Unix(), size: size}
	pages.late = func() bool { return e.options.Now().Sub(begun) > maxQueryTime }
	p, err = pages.page(from, func(position []byte) (candidates, error) { return plan.open(snapshot, position) })
	p.index = plan.index
	return p, err
}

// pager cuts the results of a query into pages.
type pager struct {
	ctx    context.Context // of the request: nobody waits for the page once it is done
	bound  *query.Bound
	along  string // the way on which the candidates are found
	sorted bool   // the candidates come in the query's order
	across bool   // the candidates are all there are: like the service, a full page does not look whether it was the last
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
	switch {
	case from.Along != "" && from.Along != g.along && !slices.ContainsFunc(g.bound.Order(), isID):
		return p, errWayChanged // to another order, at least of what is equal in ORDER BY
	case !streams:
		from.Position = nil // the rows are made of all candidates, each time again
	case from.Along != g.along || from.Along != "" && from.Position == nil:
		from.Position, from.Progress.After = nil, []byte{} // the rows that were given are counted
		if from.Along != "" {
			g.late = nil // and all of them on one page
		}
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
			p.next = &continuation{Along: g.along, Position: source.position(), Progress: rows.Progress()}
			if len(p.next.Position) > maxPosition {
				p.next.Position = nil
			}
			return p, nil
		case errors.Is(err, query.ErrTooLarge):
			return p, errRowTooLarge
		case err != nil:
			return p, err
		case !ok && rows.More():
			p.next = &continuation{Along: g.along, Progress: rows.Progress()}
			return p, nil
		case !ok:
			return p, nil
		case g.full(&p): // one row too many: it was in memory already
			p.next = &continuation{Along: g.along, Progress: progress}
			return p, nil
		}
		p.rows = append(p.rows, row)
		p.size += len(row)
	}
}

// isID tells whether items are ordered by their ids, so that no two of a partition are equal.
func isID(o query.OrderItem) bool { return len(o.Path) == 1 && o.Path[0] == "id" }

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
