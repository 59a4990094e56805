package cosmos

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// SessionToken is the state of a container that a session has seen: the latest position by the id
// of the partition key range. The service writes it as "range:position,range:position".
type SessionToken map[string]string

// String returns the token as it is sent, sorted by range.
func (t SessionToken) String() string {
	if len(t) == 1 { // the usual case
		for id, position := range t {
			return id + ":" + position
		}
	}
	var b strings.Builder
	for i, id := range slices.Sorted(maps.Keys(t)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(id + ":" + t[id])
	}
	return b.String()
}

// Merge adds the token of an answer. The later of two positions of a range is kept. Merge
// ignores malformed text.
func (t SessionToken) Merge(token string) {
	for part := range strings.SplitSeq(token, ",") {
		if id, position, ok := strings.Cut(part, ":"); ok {
			t.add(id, position)
		}
	}
}

// MergeEarlier is Merge, except that the earlier of two positions is kept.
func (t SessionToken) MergeEarlier(token string) {
	for part := range strings.SplitSeq(token, ",") {
		if id, position, ok := strings.Cut(part, ":"); ok && (t[id] == "" || laterPosition(t[id], position)) {
			t[id] = position
		}
	}
}

// add adds the position of a range, unless t has a later one.
func (t SessionToken) add(id, position string) {
	if !laterPosition(t[id], position) {
		t[id] = position
	}
}

// join is Merge for a token that is no text.
func (t SessionToken) join(other SessionToken) {
	for id, position := range other {
		t.add(id, position)
	}
}

// Covers reports whether t has each position of a token, or a later one.
func (t SessionToken) Covers(token string) bool {
	for part := range strings.SplitSeq(token, ",") {
		id, position, ok := strings.Cut(part, ":")
		if ok && (t[id] == "" || laterPosition(position, t[id])) {
			return false
		}
	}
	return true
}

// WentBack reports whether a token, of later answers, has a lower number than another one in a
// range of both. A range that moved to another version goes on with its numbers, unless it lost
// writes.
func (t SessionToken) WentBack(before SessionToken) bool {
	for id, position := range t {
		_, number := parsePosition(position)
		if _, known := parsePosition(before[id]); number >= 0 && number < known {
			return true
		}
	}
	return false
}

// laterPosition reports whether a is later than b. A position is
// "version#number#region=number…". A range that moved has a greater version. The first number
// counts all writes of the range; the regions' numbers are parts of it.
func laterPosition(a, b string) bool {
	aVersion, aNumber := parsePosition(a)
	bVersion, bNumber := parsePosition(b)
	return aVersion > bVersion || aVersion == bVersion && aNumber > bNumber
}

// SessionLSN returns the log sequence number (LSN) in the session token of an answer from one
// physical partition. It is the LSN of the last write that the answering replica has. It is
// negative if there is none.
func SessionLSN(response *http.Response) int64 {
	_, position, _ := strings.Cut(response.Header.Get(SessionTokenHeader), ":")
	_, number := parsePosition(position)
	return number
}

// parsePosition returns the version and the number. The version is 0 for the older form
// "number". A malformed position is earlier than any other.
func parsePosition(position string) (version, number int64) {
	head, rest, versioned := strings.Cut(position, "#")
	if !versioned {
		head, rest = "0", position
	}
	rest, _, _ = strings.Cut(rest, "#")
	version, err := strconv.ParseInt(head, 10, 64)
	if err != nil {
		return -1, -1
	}
	if number, err = strconv.ParseInt(rest, 10, 64); err != nil {
		return -1, -1
	}
	return version, number
}

// SessionAt returns a position as a session token: that of a log sequence number in the partition
// key range that an answer's token names. It is empty if the token is empty, or of several ranges.
func SessionAt(token string, lsn int64) string {
	id, position, ok := strings.Cut(token, ":")
	if !ok || strings.Contains(token, ",") {
		return ""
	}
	number := strconv.FormatInt(lsn, 10)
	if version, _, versioned := strings.Cut(position, "#"); versioned {
		return id + ":" + version + "#" + number
	}
	return id + ":" + number
}
