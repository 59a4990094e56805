package embedded

import (
	"net/http"
	"strconv"
	"strings"
)

// A session token says how far somebody has seen a container: for each physical range "<range>:-1#<log sequence
// number>", several joined by commas. The service's have the numbers of regions behind, "#<region>=<number>" each, and some
// have nothing but the range and the number; both are understood, and the regions left alone: there is one.

// sessionToken is the token of an answer about one range.
func sessionToken(r *keyRange, lsn uint64) string {
	token := append(strconv.AppendUint(make([]byte, 0, 24), uint64(r.id), 10), ":-1#"...)
	return string(strconv.AppendUint(token, lsn, 10))
}

// sessionTokens is the token of an answer about several ranges.
func sessionTokens(ranges []*keyRange) string {
	tokens := make([]string, len(ranges))
	for i, r := range ranges {
		tokens[i] = sessionToken(r, r.applied.Load())
	}
	return strings.Join(tokens, ",")
}

// checkSession refuses to answer from a state older than the client has seen: here only where the container was made
// anew, or the folder is an old copy.
func checkSession(token string, ranges []*keyRange) error {
	for _, part := range strings.Split(token, ",") {
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
			if r.knows(id) && r.applied.Load() < seen {
				return errorf(http.StatusNotFound, substatusSessionNotAvailable, "The read session is not available for the input session token.")
			}
		}
	}
	return nil
}
