package cosmos

import (
	"math"
	"strings"
)

// Reached is how far a reader has come in the present ranges of a container. The zero value has
// come nowhere.
type Reached struct {
	at      SessionToken
	unknown bool // the position of a part of the container is not known
}

// Add adds the positions of a part of the container, as a session token. If several parts name a
// range, the earliest position counts: the range was split into them. An empty token stands for a
// part whose position is not known.
func (r *Reached) Add(token string) {
	if r.at == nil {
		r.at = SessionToken{}
	}
	r.unknown = r.unknown || token == ""
	for part := range strings.SplitSeq(token, ",") {
		id, position, ok := strings.Cut(part, ":")
		if known, isKnown := r.at[id]; ok && (!isKnown || laterPosition(known, position)) {
			r.at[id] = position
		}
	}
}

// Covers reports whether the reader has reached each position of a token. The token may name ranges
// that are gone after a split. A split goes on with the numbers of its range. So the reader has
// reached a position of such a range if it has reached its number in all ranges.
func (r Reached) Covers(token string) bool {
	for part := range strings.SplitSeq(token, ",") {
		id, position, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		if at, isKnown := r.at[id]; isKnown {
			if laterPosition(position, at) {
				return false
			}
			continue
		}
		if _, number := parsePosition(position); r.unknown || len(r.at) == 0 || number > r.least() {
			return false
		}
	}
	return true
}

// Names reports whether a position of a range is known.
func (r Reached) Names(id string) bool { return r.at[id] != "" }

// NamesVersion reports whether a position of a range is known, and has the version of another one.
func (r Reached) NamesVersion(id, position string) bool {
	known, _ := parsePosition(r.at[id])
	version, _ := parsePosition(position)
	return r.Names(id) && known == version
}

// least returns the least log sequence number of all ranges.
func (r Reached) least() int64 {
	least := int64(math.MaxInt64)
	for _, position := range r.at {
		_, number := parsePosition(position)
		least = min(least, number)
	}
	return least
}
