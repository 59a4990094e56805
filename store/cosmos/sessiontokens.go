package cosmos

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

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
