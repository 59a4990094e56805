package changefeed

import (
	"math"
)

// Progress is the position of a reader in a change feed (Done), and the end of the feed (Total).
// Both are LSNs.
type Progress struct{ Done, Total int64 }

// Goal returns the LSN at which a reader is done. If the end is unknown, this is math.MaxInt64:
// the reader is done when it gets an empty page.
func (p Progress) Goal() int64 {
	if p.Total < p.Done || p.Total <= 0 {
		return math.MaxInt64
	}
	return p.Total
}

// ProgressOf returns the position after a page: the LSN of its last change, and that of the last
// change in the feed, which the session token contains. It is zero for a page without changes.
func ProgressOf(page Page) Progress {
	if len(page.Items) == 0 {
		return Progress{}
	}
	// Without an LSN, the feed is read until a page is empty.
	last, _ := lsnOf(page.Items[len(page.Items)-1])
	return Progress{last, page.end}
}
