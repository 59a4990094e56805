package cosmos

import (
	"errors"
	"maps"
	"math"
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

// SessionTokens are the states of several containers, by their names.
type SessionTokens map[string]SessionToken

// of returns the token of a container, a new one if there is none.
func (t SessionTokens) of(container string) SessionToken {
	token := t[container]
	if token == nil {
		token = SessionToken{}
		t[container] = token
	}
	return token
}

// Merge adds other states. The later of two positions of a range is kept.
func (t SessionTokens) Merge(others SessionTokens) {
	for container, token := range others {
		t.of(container).join(token)
	}
}

// Clone returns a copy. That of nil is nil.
func (t SessionTokens) Clone() SessionTokens {
	if t == nil {
		return nil
	}
	c := make(SessionTokens, len(t))
	for container, token := range t {
		c[container] = maps.Clone(token)
	}
	return c
}

// String returns the text that ParseSessionTokens accepts: "container=token;container=token",
// sorted by container.
func (t SessionTokens) String() string {
	var b strings.Builder
	for _, container := range slices.Sorted(maps.Keys(t)) {
		if len(t[container]) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(container + "=" + t[container].String())
	}
	return b.String()
}

// ParseSessionTokens parses the result of String. Error: the text is not one, or a position is
// malformed.
func ParseSessionTokens(text string) (SessionTokens, error) {
	tokens := SessionTokens{}
	if text == "" {
		return tokens, nil
	}
	for part := range strings.SplitSeq(text, ";") {
		container, token, ok := strings.Cut(part, "=")
		if !ok || container == "" {
			return nil, errMalformedToken
		}
		for position := range strings.SplitSeq(token, ",") {
			if !isPosition(position) {
				return nil, errMalformedToken
			}
		}
		tokens.of(container).Merge(token)
	}
	return tokens, nil
}

var errMalformedToken = errors.New("cosmos: malformed session token")

// maxPositionLength is the length of the longest position that ParseSessionTokens accepts. One of
// an account with ten regions has about 150 characters.
const maxPositionLength = 200

// isPosition reports whether a text is a position with its range, as an account writes it: digits,
// a colon, and numbers with signs between "#" and "=".
func isPosition(text string) bool {
	id, position, ok := strings.Cut(text, ":")
	if !ok || len(text) > maxPositionLength || id == "" || strings.Trim(id, "0123456789") != "" || strings.Trim(position, "0123456789#=-") != "" {
		return false
	}
	_, number := parsePosition(position)
	return number >= 0
}
