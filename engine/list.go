package engine

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"cosmosblog/engine/query"
	"cosmosblog/engine/value"
)

// listDefinitions returns one page of definitions in the order of their ids: all of them, or the
// results of a query over them. Errors: those of queries.
func (r *request) listDefinitions(rid, name string, definitions []json.RawMessage) (*response, error) {
	bound, fingerprint, err := r.listQuery()
	if err != nil {
		return nil, err
	}
	from, err := parseContinuation(r.Header.Get("X-Ms-Continuation"), fingerprint)
	if err != nil {
		return nil, err
	}
	size, err := r.pageSize(defaultPageSize)
	if err != nil {
		return nil, err
	}
	source := &definitionCandidates{}
	for _, definition := range definitions {
		if err := source.add(definition); err != nil {
			return nil, err
		}
	}
	pages := pager{ctx: r.Context(), bound: bound, sorted: len(bound.Order()) == 0, size: size}
	p, err := pages.page(from, source.open)
	if err != nil {
		return nil, err
	}
	charge := float64(metadataCharge)
	if IsQuery(r.Header) {
		charge = p.charge(bound, 1)
	}
	return listResponse(rid, name, p.rows, charge).withNext(p.next.token(fingerprint)), nil
}

// listQuery returns the query in the request's body, or a query for all items if the request is a
// list.
func (r *request) listQuery() (bound *query.Bound, fingerprint string, err error) {
	if IsQuery(r.Header) {
		return r.engine.parseQuery(r.body)
	}
	bound, err = r.engine.selectAll()
	return bound, feedFingerprint, err
}

// selectAll returns the query that selects all items.
func (e *Engine) selectAll() (*query.Bound, error) {
	parsed, err := e.queries.parse("SELECT * FROM c")
	if err != nil {
		return nil, err
	}
	return parsed.Bind(nil)
}

// definitionCandidates are definitions in the order of their ids.
type definitionCandidates struct {
	ids     []string
	records []*record
	at      int // number of definitions read
}

func (d *definitionCandidates) add(definition json.RawMessage) error {
	r := &record{text: definition}
	root, err := r.value()
	id, _ := root.Get("id").AsString()
	d.ids, d.records = append(d.ids, id), append(d.records, r)
	return err
}

func (d *definitionCandidates) open(position []byte) (candidates, error) {
	if position != nil {
		d.at, _ = slices.BinarySearch(d.ids, string(position)+"\x00")
	}
	return d, nil
}

func (d *definitionCandidates) next() (*record, error) {
	if !d.more() {
		return nil, nil
	}
	d.at++
	return d.records[d.at-1], nil
}

func (d *definitionCandidates) more() bool       { return d.at < len(d.records) }
func (d *definitionCandidates) position() []byte { return []byte(d.ids[d.at-1]) }
func (d *definitionCandidates) close() error     { return nil }

// listResponse builds the response of a list or a query: {"_rid", name: [rows], "_count"}.
func listResponse(rid, name string, rows [][]byte, charge float64) *response {
	size := 64
	for _, row := range rows {
		size += len(row) + 1
	}
	body := make([]byte, 0, size)
	body = value.AppendString(append(body, `{"_rid":`...), rid)
	body = append(value.AppendString(append(body, ','), name), ":["...)
	for i, row := range rows {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, row...)
	}
	body = strconv.AppendInt(append(body, `],"_count":`...), int64(len(rows)), 10)
	answer := &response{status: http.StatusOK, body: append(body, '}'), charge: charge}
	return answer.with("X-Ms-Item-Count", strconv.Itoa(len(rows)))
}

// sorted returns the values of a map in key order.
func sorted[V any](m map[string]V) []V {
	values := make([]V, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		values = append(values, m[name])
	}
	return values
}
