package engine

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cosmosblog/engine/query"
)

// page is the result of one request of a query.
type page struct {
	rows                [][]byte
	next                *continuation // nil at the end
	read, readBytes     int           // items read
	loaded, loadedBytes int           // those of them that the service, too, would have read
	sorted              bool          // they came in the query's order
	size                int           // bytes of the rows
	index               index         // used to find the items
}

var (
	errPageFull    = errors.New("the page is full")
	errPlanChanged = badRequest("The indexing policy has changed since the continuation token was issued. Start the query again.")
	errRowTooLarge = errorf(http.StatusRequestEntityTooLarge, 0, "A row of the query's result is too large or takes too long to compute.")
)

// queryPage executes a query over the committed items until a page is full or no items are left.
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
	pages := pager{
		ctx:      ctx,
		bound:    bound,
		planID:   plan.planID(),
		sorted:   plan.sorted,
		allItems: plan.index.isCreation(),
		indexed:  c.answersByIndexes(bound),
		now:      begun.Unix(),
		size:     size,
		timeUp:   func() bool { return e.options.Now().Sub(begun) > maxQueryTime },
	}
	p, err = pages.page(from, func(position []byte) (candidates, error) { return plan.open(snapshot, position) })
	p.index, p.sorted = plan.index, plan.sorted
	return p, err
}

// pager divides the results of a query into pages.
type pager struct {
	ctx    context.Context // of the request; if it ends, the query stops
	bound  *query.Bound
	planID string // how the candidates are found: see plan.planID
	sorted bool   // the candidates come in the query's order
	// allItems is set if the candidates are all items of the container. As on the service, a full
	// page then has a continuation even if it is the last.
	allItems bool
	indexed  bool // none of the paths by which the query finds items is excluded from the indexes
	now      int64
	size     int         // maximum rows of a page
	timeUp   func() bool // reports whether the page's time is over; nil if it has no limit
}

// contextCheckInterval is the number of items read between two checks of the context.
const contextCheckInterval = 16

// usualRows is an initial capacity in rows that suffices for most pages.
const usualRows = 32

// maxQueryTime is the maximum duration of a page (limits page of Azure Cosmos DB: 5 seconds per
// request). After that, the page ends early. Queries that must read all items before the first
// row are not limited.
const maxQueryTime = 5 * time.Second

// page returns the page that begins at a continuation. open returns the candidates after a
// position.
func (g pager) page(from continuation, open func(position []byte) (candidates, error)) (p page, err error) {
	streams := g.bound.Streams() && g.sorted
	switch {
	case from.PlanID != "" && from.PlanID != g.planID && !slices.ContainsFunc(g.bound.Order(), isID):
		return p, errPlanChanged // candidates that are equal in ORDER BY now come in another order
	case !streams:
		from.Position = nil // each page computes the rows from all candidates
	case from.PlanID != g.planID || from.PlanID != "" && from.Position == nil:
		from.Position, from.Progress.After = nil, []byte{} // skip as many rows as were already returned
		if from.PlanID != "" {
			g.timeUp = nil // return all remaining rows on one page
		}
	}
	source, err := open(from.Position)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	rows := g.bound.Run(g.documents(&p, source, streams), g.sorted, from.Progress)
	rows.AtMost(g.size)
	defer func() {
		if p.loaded, p.loadedBytes = rows.Loaded(); !g.indexed {
			p.loaded, p.loadedBytes = p.read, p.readBytes
		}
	}()
	p.rows = make([][]byte, 0, min(g.size, usualRows))
	for {
		progress := rows.Progress()
		row, ok, err := rows.Next()
		switch {
		case errors.Is(err, errPageFull):
			p.next = &continuation{PlanID: g.planID, Position: source.position(), Progress: rows.Progress()}
			if len(p.next.Position) > maxPosition {
				p.next.Position = nil
			}
			return p, nil
		case errors.Is(err, query.ErrTooLarge):
			return p, errRowTooLarge
		case errors.Is(err, query.ErrNotFinite):
			return p, errNotFinite
		case err != nil:
			return p, err
		case !ok && rows.More():
			p.next = &continuation{PlanID: g.planID, Progress: rows.Progress()}
			return p, nil
		case !ok:
			return p, nil
		case g.full(&p): // one row too many; it was already in memory
			p.next = &continuation{PlanID: g.planID, Progress: progress}
			return p, nil
		}
		p.rows = append(p.rows, row)
		p.size += len(row)
	}
}

// isID reports whether an ORDER BY item is the id, which is unique within a partition.
func isID(o query.OrderItem) bool { return len(o.Path) == 1 && o.Path[0] == "id" }

// documents returns the candidates as a query's source and counts them. For a streaming query,
// the source returns errPageFull if the page is full and more candidates follow.
func (g pager) documents(p *page, source candidates, streams bool) query.Source {
	return func() (query.Document, bool, error) {
		if streams && g.pageDone(p) {
			if g.allItems || source.more() {
				return query.Document{}, false, errPageFull
			}
			return query.Document{}, false, nil
		}
		if p.read%contextCheckInterval == 0 && g.ctx.Err() != nil {
			return query.Document{}, false, g.ctx.Err()
		}
		document, ok, err := g.nextDocument(source)
		if ok {
			p.read++
			p.readBytes += len(document.Text)
		}
		return document, ok, err
	}
}

func (g pager) full(p *page) bool { return len(p.rows) >= g.size || p.size > maxPageBytes }

// pageDone reports whether a page of a streaming query is full, or has at least one item and no
// time left.
func (g pager) pageDone(p *page) bool {
	return g.full(p) || p.read > 0 && g.timeUp != nil && g.timeUp()
}

// nextDocument returns the next candidate that has not expired.
func (g pager) nextDocument(candidates candidates) (query.Document, bool, error) {
	for {
		stored, err := candidates.next()
		if err != nil || stored == nil {
			return query.Document{}, false, err
		}
		if stored.expired(g.now) {
			continue
		}
		root, err := stored.valueFor(g.bound, g.sorted)
		return query.Document{Text: stored.text, Root: root}, err == nil, err
	}
}

// charge returns the charge of a page that visited some physical ranges. If the engine has sorted
// the items itself, those are charged that an index of the one sorted path would have loaded: the
// rows, and those that OFFSET skipped. But what a range skips is charged too, unless it is the only
// condition and on that path: "The RU cost of the query can be reduced with a composite index" if
// it filters on one property and sorts by another
// (learn.microsoft.com/azure/cosmos-db/index-policy#queries-with-a-filter-and-order-by).
func (p *page) charge(bound *query.Bound, ranges int) float64 {
	if bound.CountsOnly() {
		return countCharge(ranges, p.loaded)
	}
	loaded, bytes := p.loaded, p.loadedBytes
	if len(bound.Order()) > 0 && !p.sorted && bound.Streams() && seeksInOrder(bound.Conditions(), bound.Order()[0]) {
		loaded = min(loaded, len(p.rows)+bound.Offset())
		bytes = bytes / max(p.loaded, 1) * loaded
	}
	return queryCharge(ranges, loaded, bytes)
}

// seeksInOrder reports whether an index of one path alone finds the first item that meets the
// conditions, in the order of the path: there is no range, or no condition on another path.
func seeksInOrder(conditions []query.Condition, order query.OrderItem) bool {
	isRange := func(c query.Condition) bool { return c.Op != query.Eq && c.Op != query.In }
	isElsewhere := func(c query.Condition) bool { return !slices.Equal(c.Path, order.Path) }
	return !slices.ContainsFunc(conditions, isRange) || !slices.ContainsFunc(conditions, isElsewhere)
}

// metrics returns the header x-ms-documentdb-query-metrics. The engine does not measure times.
func (p *page) metrics() string {
	text := append(make([]byte, 0, 512), "totalExecutionTimeInMs=0.00;queryCompileTimeInMs=0.00;queryLogicalPlanBuildTimeInMs=0.00;"+
		"queryPhysicalPlanBuildTimeInMs=0.00;queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs=0.00;indexLookupTimeInMs=0.00;"+
		"documentLoadTimeInMs=0.00;systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount="...)
	text = strconv.AppendInt(text, int64(p.loaded), 10)
	text = strconv.AppendInt(append(text, ";retrievedDocumentSize="...), int64(p.loadedBytes), 10)
	text = strconv.AppendInt(append(text, ";outputDocumentCount="...), int64(len(p.rows)), 10)
	text = strconv.AppendInt(append(text, ";outputDocumentSize="...), int64(p.size), 10)
	used := min(1, float64(len(p.rows))/max(1, float64(p.loaded)))
	return string(strconv.AppendFloat(append(text, ";writeOutputTimeInMs=0.00;indexUtilizationRatio="...), used, 'f', 2, 64))
}
