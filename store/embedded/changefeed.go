package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// readFeed is what a client means by GET of a container's items: the change feed, or a list of them.
func (r *request) readFeed() (*response, error) {
	switch strings.ToLower(r.Header.Get("A-Im")) {
	case "incremental feed":
		return r.readChanges()
	case "":
		return r.listItems()
	}
	return nil, badRequest("Only the latest-version change feed (A-IM: Incremental Feed) is supported by this engine.")
}

// listItems gives the items of a logical partition, of a physical range or of the container, page by page.
func (r *request) listItems() (*response, error) {
	s, ranges, err := r.feedScope()
	if err != nil {
		return nil, err
	}
	parsed, err := r.engine.queries.parse("SELECT * FROM c")
	if err != nil {
		return nil, err
	}
	bound, err := parsed.Bind(nil)
	if err != nil {
		return nil, err
	}
	from, err := parseContinuation(r.Header.Get("X-Ms-Continuation"), feedFingerprint)
	if err != nil {
		return nil, err
	}
	size, err := r.pageSize(defaultPageSize)
	if err != nil {
		return nil, err
	}
	p, err := r.engine.queryPage(r.container, bound, s, from, size)
	if err != nil {
		return nil, err
	}
	answer := listResponse(r.container.rid, "Documents", p.rows, queryCharge(len(ranges), p.loaded, p.loadedBytes))
	if p.next != nil {
		p.next.Fingerprint = feedFingerprint
		answer.with("X-Ms-Continuation", p.next.String())
	}
	return answer, nil
}

// feedScope reads which part of the container a feed is of.
func (r *request) feedScope() (s scope, ranges []*keyRange, err error) {
	if r.Header.Get("X-Ms-Documentdb-Partitionkey") != "" {
		p, err := r.headerPartition()
		if err != nil {
			return s, nil, err
		}
		return scope{partition: &p}, rangeList(r.container.rangeOf(p.epk())), nil
	}
	id := r.Header.Get("X-Ms-Documentdb-Partitionkeyrangeid")
	if id == "" {
		return s, r.container.ranges, nil
	}
	keyRange := r.container.rangeByID(id[strings.LastIndexByte(id, ',')+1:])
	if keyRange == nil {
		return s, nil, errorf(http.StatusGone, 1002, "The partition key range %s does not exist.", id)
	}
	return scope{keyRange: keyRange}, rangeList(keyRange), nil
}

// changesFrom is where a page of the change feed begins.
type changesFrom struct {
	lsn   uint64 // changes after this number
	since int64  // and written after this second
}

// readChanges gives a page of the change feed of one physical range: each item once, as it is after its last change, in
// the order of the log. Items of one transaction are never parted. Only what is on disk is shown.
func (r *request) readChanges() (*response, error) {
	s, ranges, err := r.feedScope()
	if err != nil {
		return nil, err
	}
	if len(ranges) != 1 {
		return nil, badRequest("The change feed of a container of several physical ranges is read range by range: x-ms-documentdb-partitionkeyrangeid is missing.")
	}
	keyRange := ranges[0]
	if err := checkSession(r.Header.Get("X-Ms-Session-Token"), ranges); err != nil {
		return nil, err
	}
	durable := keyRange.durable.Load()
	from, err := r.changesFrom(durable)
	if err != nil {
		return nil, err
	}
	size, err := r.pageSize(maxPageSize)
	if err != nil {
		return nil, err
	}
	p, err := r.engine.changes(r.container, keyRange, s.partition, from, durable, size)
	if err != nil {
		return nil, err
	}
	charge := feedCharge(len(p.rows), p.size)
	if len(p.rows) == 0 {
		return (&response{status: http.StatusNotModified, charge: charge}).feedHeaders(keyRange, p.last), nil
	}
	return listResponse(r.container.rid, "Documents", p.rows, charge).feedHeaders(keyRange, p.last), nil
}

func (a *response) feedHeaders(r *keyRange, last uint64) *response {
	return a.with("Etag", fmt.Sprintf(`"%d"`, last)).with("X-Ms-Session-Token", sessionToken(r, r.applied.Load()))
}

// changesFrom reads If-None-Match (a number that an earlier page gave, or * for now) and, without it, If-Modified-Since.
func (r *request) changesFrom(durable uint64) (changesFrom, error) {
	if etag := r.Header.Get("If-None-Match"); etag != "" {
		if etag == "*" {
			return changesFrom{lsn: durable}, nil
		}
		lsn, err := strconv.ParseUint(strings.Trim(etag, `"`), 10, 64)
		if err != nil {
			return changesFrom{}, badRequest("The If-None-Match header is not an etag of the change feed.")
		}
		return changesFrom{lsn: lsn}, nil
	}
	since := r.Header.Get("If-Modified-Since")
	for _, layout := range []string{http.TimeFormat, time.RFC1123} {
		if t, err := time.Parse(layout, since); err == nil {
			return changesFrom{since: t.Unix()}, nil
		}
	}
	return changesFrom{}, nil // the service ignores a date that it cannot read
}

// changePage is a page of the change feed; last is the number to go on after.
type changePage struct {
	rows [][]byte
	size int
	last uint64
}

// changes reads a range's changes up to the number that is durable, of one partition where p is given.
func (e *Engine) changes(c *container, r *keyRange, p *partition, from changesFrom, durable uint64, size int) (page changePage, err error) {
	if page.last = max(from.lsn, durable); from.lsn >= durable {
		return page, nil
	}
	snapshot := e.db.NewSnapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	it, err := snapshot.NewIter(&pebble.IterOptions{
		LowerBound: feedKey(c.number, r.id, from.lsn+1, 0),
		UpperBound: feedKey(c.number, r.id, durable+1, 0),
	})
	if err != nil {
		return page, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	err = e.collectChanges(&page, snapshot, it, c, p, from, size)
	return page, err
}

// collectChanges fills a page. It ends between two transactions.
func (e *Engine) collectChanges(page *changePage, reader pebble.Reader, it *pebble.Iterator, c *container, p *partition, from changesFrom, size int) error {
	now := e.options.Now().Unix()
	previous := from.lsn
	for it.First(); it.Valid(); it.Next() {
		lsn := feedLSN(it.Key())
		if lsn != previous && (len(page.rows) >= size || page.size > maxPageBytes) {
			page.last = previous
			return nil
		}
		previous = lsn
		l := it.Value()
		if p != nil && !bytes.HasPrefix(l, p.prefix) {
			continue
		}
		stored, err := readRecord(reader, c, l)
		if err != nil {
			return err
		}
		if stored == nil || stored.lsn != lsn {
			return errDamagedRecord // a change without its item
		}
		if stored.expired(now) || from.since != 0 && stored.writtenAt() <= from.since {
			continue
		}
		row := stored.withLSN()
		page.rows = append(page.rows, row)
		page.size += len(row)
	}
	return it.Error()
}

// writtenAt gives the second of the item's last write.
func (r *record) writtenAt() int64 {
	root, err := r.value()
	if err != nil {
		return 0
	}
	ts, _ := root.Get("_ts").AsNumber()
	return int64(ts)
}

// withLSN gives the item's JSON as the change feed has it.
func (r *record) withLSN() []byte {
	text := append(make([]byte, 0, len(r.text)+24), r.text[:len(r.text)-1]...)
	text = strconv.AppendUint(append(text, `,"_lsn":`...), r.lsn, 10)
	return append(text, '}')
}
