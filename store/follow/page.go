package follow

import (
	"encoding/json"
	"math"
	"time"
)

// Page is a page of a change feed, or of all items of a container, with its items as stored.
type Page struct {
	Items        [][]byte
	Continuation string // where the next page begins
	Began        string // the continuation from which the page was read
	ResourceID   string // of the container that Continuation belongs to
	End          int64  // LSN of the last change in the feed range; negative if unknown
	Token        string // session token of the answer; empty if unknown
	Passed       int64  // up to this LSN, there is nothing after Began
	IsLast       bool   // of all items of a container
}

// IsBeyondEnd reports whether the page has no items because it was read from a position beyond the
// last change of the feed range, as the replica knows it. The replica is behind, or the container
// was reset to an earlier state. An account may answer with that position, or with its own end.
func (p Page) IsBeyondEnd() bool {
	began, ok := ContinuationNumber(p.Began)
	return ok && len(p.Items) == 0 && p.End >= 0 && began > p.End
}

// Reached returns the LSN of the replica's state, if the page has everything up to it. The
// continuation of a page without changes has certainly reached its own number. The numbers of
// continuations and of session tokens are the same, as those of azure-sdk-for-java#43701 show.
func (p Page) Reached() (lsn int64, ok bool) {
	reached, ok := ContinuationNumber(p.Continuation)
	switch {
	case !ok || p.End < 0:
		return 0, false
	case reached >= p.End:
		return p.End, true
	}
	return max(reached, p.Passed), len(p.Items) == 0
}

// Change is what the service adds to an item of a change feed.
type Change struct {
	LSN       int64 `json:"_lsn"` // number of the write; it increases in a feed range
	Timestamp int64 `json:"_ts"`  // of the write, in seconds since 1970
}

// ChangeOf decodes an item of a page. Error: it is not JSON.
func ChangeOf(item []byte) (c Change, err error) {
	err = json.Unmarshal(item, &c)
	return c, err
}

// Time returns the time of the write, to the second.
func (c Change) Time() time.Time { return time.Unix(c.Timestamp, 0) }

// goal returns the LSN at which a reader is done that has found a change and the end of its feed.
// If the end is unknown, this is math.MaxInt64: the reader is done when it gets an empty page.
func goal(done, end int64) int64 {
	if end < done || end <= 0 {
		return math.MaxInt64
	}
	return end
}
