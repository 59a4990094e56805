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
		id, position, ok := strings.Cut(part, ":")
		if ok && !laterPosition(t[id], position) {
			t[id] = position
		}
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
// key range of an answer. It is empty if the answer has no session token, or one of several ranges.
func SessionAt(response *http.Response, lsn int64) string {
	token := response.Header.Get(SessionTokenHeader)
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

// CoversFormer is Covers for a token t of all present ranges of a container, and a token that may
// name ranges that are gone after a split. A split goes on with the numbers of its range. So t has
// a position of a range that is gone if all ranges have its number.
func (t SessionToken) CoversFormer(token string) bool {
	for part := range strings.SplitSeq(token, ",") {
		id, position, ok := strings.Cut(part, ":")
		switch {
		case !ok:
		case t[id] != "":
			if laterPosition(position, t[id]) {
				return false
			}
		default:
			if _, number := parsePosition(position); len(t) == 0 || number > t.least() {
				return false
			}
		}
	}
	return true
}

// least returns the least log sequence number of all ranges.
func (t SessionToken) least() int64 {
	least := int64(math.MaxInt64)
	for id := range t {
		least = min(least, t.Number(id))
	}
	return least
}

// Number returns the log sequence number of a range, or -1 if the token has none for it.
func (t SessionToken) Number(id string) int64 {
	_, number := parsePosition(t[id])
	return number
}

// SessionTokens are the states of several containers, by their names.
type SessionTokens map[string]SessionToken

// add adds the session token of an answer of a container.
func (t SessionTokens) add(container, token string) {
	known := t[container]
	if known == nil {
		known = SessionToken{}
		t[container] = known
	}
	known.Merge(token)
}

// Merge adds other states. The later of two positions of a range is kept.
func (t SessionTokens) Merge(others SessionTokens) {
	for container, token := range others {
		t.add(container, token.String())
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
		tokens.add(container, token)
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
