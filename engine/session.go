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

// withState adds the session token of a state of one range, and what else a gateway says about it
// (Azure/azure-sdk-for-rust, sdk/data_cosmos/src/operations/get_document.rs, which requires these
// headers, and azure-sdk-for-rust#4278 for the id of the range).
func (a *response) withState(r *keyRange, lsn uint64) *response {
	token := sessionToken(r, lsn)
	id := strings.IndexByte(token, ':')
	return a.with("X-Ms-Session-Token", token).
		with("Lsn", token[id+len(":-1#"):]).
		with("X-Ms-Documentdb-Partitionkeyrangeid", token[:id]).
		with("X-Ms-Number-Of-Read-Regions", "0")
}

// checkSession returns an error if the client has seen a later state than the engine's (404). This
// happens only if the container was created again, or if the folder is an old copy. A token in none
// of the forms is 400 (dotnet-v3, EmulatorTests/Utils/Util.cs, invalidSessionTokens, and
// ChangeFeed/ ChangeFeedAsyncEnumerableTests.cs). On levels without sessions, tokens have no
// effect.
func (r *request) checkSession(ranges []*keyRange) error {
	if !r.engine.Consistency().HasSessions() {
		return nil
	}
	token := r.Header.Get("X-Ms-Session-Token")
	if token == "" {
		return nil
	}
	for part := range strings.SplitSeq(token, ",") {
		id, seen, ok := parseSession(strings.TrimSpace(part))
		if !ok {
			return badRequest("The session token provided '%s' is invalid.", token)
		}
		for _, r := range ranges {
			if r.matchesID(id) && r.applied.Load() < seen {
				return errorf(http.StatusNotFound, substatusSessionNotAvailable, "The read session is not available for the input session token.")
			}
		}
	}
	return nil
}

// parseSession parses the part of a token about one range.
func parseSession(part string) (id string, seen uint64, ok bool) {
	id, number, ok := strings.Cut(part, ":")
	version, rest, versioned := strings.Cut(number, "#")
	if versioned {
		if _, err := strconv.ParseInt(version, 10, 64); err != nil {
			return id, 0, false
		}
		for number, rest, versioned = strings.Cut(rest, "#"); versioned; {
			var regional string
			regional, rest, versioned = strings.Cut(rest, "#")
			region, local, _ := strings.Cut(regional, "=")
			if _, err := strconv.ParseUint(region, 10, 64); err != nil {
				return id, 0, false
			}
			if _, err := strconv.ParseInt(local, 10, 64); err != nil {
				return id, 0, false
			}
		}
	}
	seen, err := strconv.ParseUint(number, 10, 64)
	return id, seen, ok && err == nil
}
