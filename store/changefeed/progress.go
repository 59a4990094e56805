package changefeed

import "math"

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

// ProgressOf returns the progress of a reader after a page, or zero for a page without changes.
// Done is the LSN of the page's last change. Total is that of the feed's last change, which the
// session token of the answer contains.
func ProgressOf(page Page) Progress {
	if len(page.Items) == 0 {
		return Progress{}
	}
	// If the change has no LSN, Goal makes the reader continue until a page is empty.
	last, _ := lsnOf(page.Items[len(page.Items)-1])
	return Progress{last, page.end}
}
