package engine

import (
	"net/http"
	"strconv"
	"strings"
)

// A session token states how much of a container a client has seen: "<range>:-1#<log sequence
// number>" for each physical range, joined by commas. The service's tokens may have regional
// numbers at the end, "#<region>=<number>" each, or only the range and the number. The engine
// accepts all forms and ignores regional numbers, because it has one region.

// sessionToken returns the token of a response about one range.
func sessionToken(r *keyRange, lsn uint64) string {
	token := append(strconv.AppendUint(make([]byte, 0, 24), uint64(r.id), 10), ":-1#"...)
	return string(strconv.AppendUint(token, lsn, 10))
}

// sessionTokens returns the token of a response about several ranges.
func sessionTokens(ranges []*keyRange) string {
	tokens := make([]string, len(ranges))
	for i, r := range ranges {
		tokens[i] = sessionToken(r, r.applied.Load())
	}
	return strings.Join(tokens, ",")
}

// checkSession returns an error if the client has seen a later state than the engine's. This
// happens only if the container was created again, or if the folder is an old copy. On levels
// without sessions, tokens have no effect.
func (r *request) checkSession(ranges []*keyRange) error {
	if !r.engine.Consistency().HasSessions() {
		return nil
	}
	token := r.Header.Get("X-Ms-Session-Token")
	for part := range strings.SplitSeq(token, ",") {
		id, rest, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		number, behind, versioned := strings.Cut(rest, "#")
		if versioned {
			number, _, _ = strings.Cut(behind, "#")
		}
		seen, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return badRequest("The session token is invalid.")
		}
		for _, r := range ranges {
			if r.matchesID(id) && r.applied.Load() < seen {
				return errorf(http.StatusNotFound, substatusSessionNotAvailable, "The read session is not available for the input session token.")
			}
		}
	}
	return nil
}
