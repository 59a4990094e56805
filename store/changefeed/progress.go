package changefeed

import (
	"math"
)

// Progress is how far one feed is read, and how far it goes.
type Progress struct{ Done, Total int64 }

// Goal is where a feed that goes so far has been read. Where the end is not known, it has been read when it gives nothing
// more.
func (e Progress) Goal() int64 {
	if e.Total < e.Done || e.Total <= 0 {
		return math.MaxInt64
	}
	return e.Total
}

// ProgressOf reads the number of the page's last change, and from the session token that of the last one there is; nothing of
// a page without changes.
func ProgressOf(page Page) Progress {
	if len(page.Items) == 0 {
		return Progress{}
	}
	last, _ := numberOf(page.Items[len(page.Items)-1]) // without it the feed is followed until it is empty
	return Progress{last, page.end}
}
