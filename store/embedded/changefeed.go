package embedded

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
	s, _, err := r.feedScope()
	if err != nil {
		return nil, err
	}
	bound, err := r.engine.everything()
	if err != nil {
		return nil, err
	}
	answer, _, err := r.pageOf(bound, feedFingerprint, s)
	return answer, err
}

// feedScope reads which part of the container a feed is of: a logical partition, a physical range, what is in both, or all
// of it. ranges are those that it is read from.
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

// headerRange gives the physical range that the request's headers name ("0", or "<container>,0"), or the part of it that they
// name by effective partition keys; nil where they name none. Errors: 400, 410.
func (r *request) headerRange() (*keyRange, error) {
	id := r.Header.Get("X-Ms-Documentdb-Partitionkeyrangeid")
	start, end := r.Header.Get("X-Ms-Start-Epk"), r.Header.Get("X-Ms-End-Epk")
	switch {
	case id == "" && start == "" && end == "":
		return nil, nil
	case id == "":
		return nil, badRequest("x-ms-start-epk and x-ms-end-epk name a part of the range of x-ms-documentdb-partitionkeyrangeid, which is missing.")
	}
	keyRange := r.container.rangeByID(id[strings.LastIndexByte(id, ',')+1:])
	if keyRange == nil {
		return nil, errorf(http.StatusGone, substatusRangeGone, "The partition key range %s does not exist.", id)
	}
	return keyRange.part(start, end)
}

// part gives what of the range lies from start to before end: effective partition keys in hexadecimal digits, "" and "FF"
// being the ends of all. It has the range's log.
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
	from, err := r.changesFrom(keyRange.durable.Load())
	if err != nil {
		return nil, err
	}
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

// changes reads the changes of a range after a number; where the scope has a partition, too, those of the partition. It
// looks at one moment, and waits until all of it is on disk: an older state that a change hides may be all that a crash
// would leave of the item.
func (e *Engine) changes(ctx context.Context, c *container, s scope, from changesFrom, size int) (page changePage, err error) {
	r := s.keyRange
	r.mu.Lock()
	snapshot, last := e.db.NewSnapshot(), r.lsn
	r.mu.Unlock()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	if err := e.settle(r, last); err != nil {
		return page, err
	}
	if page.last = max(from.lsn, last); from.lsn >= last {
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
	changes := changeReader{reader: snapshot, it: it, container: c, scope: s, since: from.since, now: e.options.Now().Unix()}
	return page, changes.fill(ctx, &page, from.lsn, size)
}

// changeReader reads the change feed of one moment.
type changeReader struct {
	reader    pebble.Reader
	it        *pebble.Iterator
	container *container
	scope     scope // a range, and a partition or nil
	since     int64
	now       int64
}

// fill fills a page. It ends between two transactions.
func (c changeReader) fill(ctx context.Context, page *changePage, previous uint64, size int) error {
	read := 0
	for c.it.First(); c.it.Valid(); c.it.Next() {
		if read++; read%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lsn := feedLSN(c.it.Key())
		if lsn != previous && (len(page.rows) >= size || page.size > maxPageBytes) {
			page.last = previous
			return nil
		}
		previous = lsn
		stored, err := c.change(lsn)
		if err != nil {
			return err
		}
		if stored != nil {
			row := stored.withLSN()
			page.rows = append(page.rows, row)
			page.size += len(row)
		}
	}
	return c.it.Error()
}

// change gives the item of the change that the iterator stands on; nil where it is not to be shown.
func (c changeReader) change(lsn uint64) (*record, error) {
	l := c.it.Value()
	if !c.scope.keyRange.contains(l) { // a range that came of the same split as this one
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
		return nil, errDamagedRecord // a change without its item
	}
	if stored.expired(c.now) || c.since != 0 && stored.writtenAt() <= c.since {
		return nil, nil
	}
	return stored, nil
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
