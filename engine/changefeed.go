package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// readFeed handles GET on a container's items: it reads the change feed or lists items.
func (r *request) readFeed() (*response, error) {
	switch strings.ToLower(r.Header.Get("A-Im")) {
	case "incremental feed":
		return r.readChanges()
	case "":
		return r.listItems()
	}
	return nil, badRequest("Only the latest-version change feed (A-IM: Incremental Feed) is supported by this engine.")
}

// listItems returns one page of the items of a logical partition, a physical range or the
// container.
func (r *request) listItems() (*response, error) {
	s, _, err := r.feedScope()
	if err != nil {
		return nil, err
	}
	bound, err := r.engine.selectAll()
	if err != nil {
		return nil, err
	}
	answer, _, err := r.pageOf(bound, feedFingerprint, s)
	return answer, err
}

// feedScope returns the part of the container that a request reads: a logical partition, a
// physical range, their intersection, or everything. ranges are the physical ranges that hold
// it.
func (r *request) feedScope() (s scope, ranges []*keyRange, err error) {
	if s.keyRange, err = r.headerRange(); err != nil {
		return s, nil, err
	}
	if r.Header.Get("X-Ms-Documentdb-Partitionkey") != "" {
		p, err := r.headerPartition()
		if err != nil {
			return s, nil, err
		}
		s.partition = &p
		if s.keyRange == nil {
			return s, rangeList(r.container.rangeOf(p.epk())), nil
		}
	}
	return s, s.ranges(r.container), nil
}

// headerRange returns the physical range that the request's headers name ("0", or
// "<container>,0"), or the part of it given by effective partition keys. It returns nil if the
// headers name no range. Errors: 400, 410.
func (r *request) headerRange() (*keyRange, error) {
	id := r.Header.Get("X-Ms-Documentdb-Partitionkeyrangeid")
	start, end := r.Header.Get("X-Ms-Start-Epk"), r.Header.Get("X-Ms-End-Epk")
	switch {
	case id == "" && start == "" && end == "":
		return nil, nil
	case id == "":
		return nil, badRequest("x-ms-start-epk and x-ms-end-epk require x-ms-documentdb-partitionkeyrangeid.")
	}
	keyRange := r.container.rangeByID(id[strings.LastIndexByte(id, ',')+1:])
	if keyRange == nil {
		return nil, errorf(http.StatusGone, substatusRangeGone, "The partition key range %s does not exist.", id)
	}
	return keyRange.part(start, end)
}

// part returns the part of the range from start to before end. Both are effective partition keys
// in hexadecimal; "" and "FF" are the ends of the key space. The part shares the range's log.
func (r *keyRange) part(start, end string) (*keyRange, error) {
	low, err := hex.DecodeString(start)
	high, err2 := hex.DecodeString(end)
	if err != nil || err2 != nil {
		return nil, badRequest("x-ms-start-epk and x-ms-end-epk must be hexadecimal digits.")
	}
	part := *r
	if bytes.Compare(low, r.min) > 0 {
		part.min = low
	}
	if end != "" && end != "FF" && (r.max == nil || bytes.Compare(high, r.max) < 0) {
		part.max = high
	}
	return &part, nil
}

// changesFrom is the position at which a page of the change feed begins.
type changesFrom struct {
	lsn   uint64 // only changes after this number
	since int64  // and written after this Unix second
}

// readChanges returns a page of the change feed of one physical range. It contains each item
// once, in its latest state, in log order. Items of one transaction are always on one page.
// Changes that are not yet on disk are not included.
func (r *request) readChanges() (*response, error) {
	s, ranges, err := r.feedScope()
	if err != nil {
		return nil, err
	}
	if len(ranges) != 1 {
		return nil, badRequest("The change feed of a container with several physical ranges requires x-ms-documentdb-partitionkeyrangeid.")
	}
	keyRange := ranges[0]
	if err := r.checkSession(ranges); err != nil {
		return nil, err
	}
	from, err := r.changesFrom(keyRange.durable.Load())
	if err != nil {
		return nil, err
	}
	from.lsn = max(from.lsn, keyRange.hidden.Load())
	size, err := r.pageSize(maxPageSize)
	if err != nil {
		return nil, err
	}
	p, err := r.engine.changes(r.Context(), r.container, scope{s.partition, keyRange}, from, size)
	if err != nil {
		return nil, err
	}
	charge := feedCharge(len(p.rows), p.size)
	if len(p.rows) == 0 {
		return (&response{status: http.StatusNotModified, charge: charge}).feedHeaders(keyRange, p), nil
	}
	return listResponse(r.container.rid, "Documents", p.rows, charge).feedHeaders(keyRange, p), nil
}

// feedHeaders adds the headers of a page. Its session token is the state that the page was read
// from: a reader may conclude from it which changes the page would have.
func (a *response) feedHeaders(r *keyRange, p changePage) *response {
	return a.with("Etag", fmt.Sprintf(`"%d"`, p.last)).withState(r, p.end)
}

// changesFrom reads If-None-Match (a number from an earlier page, or * for now). Without that
// header it reads If-Modified-Since.
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
	return changesFrom{}, nil // the service ignores dates that it cannot parse
}

// changePage is a page of the change feed. The next page begins after the number last. The number
// of the state that the page was read from is end.
type changePage struct {
	rows [][]byte
	size int
	last uint64
	end  uint64
}

// changes reads the changes of a range after a number. If the scope also has a partition, it
// returns only that partition's changes. It reads from one snapshot and waits until all of it is
// on disk. Otherwise a crash could undo a change that a reader has already seen.
func (e *Engine) changes(ctx context.Context, c *container, s scope, from changesFrom, size int) (page changePage, err error) {
	r := s.keyRange
	r.mu.Lock()
	snapshot, last := e.db.NewSnapshot(), r.lsn
	r.mu.Unlock()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	if err := e.waitDurable(r, last); err != nil {
		return page, err
	}
	page.end = last
	page.last = max(from.lsn, last)
	if e.options.EtagsOfShownChanges {
		page.last = from.lsn
	}
	if from.lsn >= last {
		return page, nil
	}
	it, err := snapshot.NewIter(&pebble.IterOptions{
		LowerBound: feedKey(c.number, r.number, from.lsn+1, 0),
		UpperBound: feedKey(c.number, r.number, last+1, 0),
	})
	if err != nil {
		return page, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	changes := changeReader{reader: snapshot, it: it, container: c, scope: s, since: from.since, now: e.options.Now().Unix(), shown: e.options.EtagsOfShownChanges}
	return page, changes.fill(ctx, &page, from.lsn, size)
}

// changeReader reads the change feed from one snapshot.
type changeReader struct {
	reader    pebble.Reader
	it        *pebble.Iterator
	container *container
	scope     scope // a range, and a partition or nil
	since     int64
	now       int64
	shown     bool // Options.EtagsOfShownChanges
}

// fill fills a page. The page ends between two transactions.
func (c changeReader) fill(ctx context.Context, page *changePage, previous uint64, size int) error {
	read := 0
	for c.it.First(); c.it.Valid(); c.it.Next() {
		if read++; read%contextCheckInterval == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lsn := feedLSN(c.it.Key())
		if lsn != previous && (len(page.rows) >= size || page.size > maxPageBytes) {
			if !c.shown {
				page.last = previous
			}
			return nil
		}
		previous = lsn
		stored, err := c.change(lsn)
		if err != nil {
			return err
		}
		if stored != nil {
			page.last = max(page.last, lsn)
			row := stored.withLSN()
			page.rows = append(page.rows, row)
			page.size += len(row)
		}
	}
	return c.it.Error()
}

// change returns the item of the change at the iterator's position. It returns nil if the page
// does not include the item.
func (c changeReader) change(lsn uint64) (*record, error) {
	l := c.it.Value()
	if !c.scope.keyRange.contains(l) { // from another range of the same split
		return nil, nil
	}
	if c.scope.partition != nil && !bytes.HasPrefix(l, c.scope.partition.prefix) {
		return nil, nil
	}
	stored, err := readRecord(c.reader, c.container, l)
	if err != nil {
		return nil, err
	}
	if stored == nil || stored.lsn != lsn {
		return nil, errDamagedRecord // a change without an item
	}
	if stored.expired(c.now) || c.since != 0 && stored.writtenAt() <= c.since {
		return nil, nil
	}
	return stored, nil
}

// writtenAt returns the Unix second of the item's last write.
func (r *record) writtenAt() int64 {
	root, err := r.value()
	if err != nil {
		return 0
	}
	ts, _ := root.Get("_ts").AsNumber()
	return int64(ts)
}

// withLSN returns the item's JSON in the form of the change feed.
func (r *record) withLSN() []byte {
	text := append(make([]byte, 0, len(r.text)+24), r.text[:len(r.text)-1]...)
	text = strconv.AppendUint(append(text, `,"_lsn":`...), r.lsn, 10)
	return append(text, '}')
}
