package cosmos

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

const SessionTokenHeader = "X-Ms-Session-Token"

type sessionKey struct{}

// WithSession gives a context in which every answer's session token is kept and sent with every later request to the
// same container, so that a read sees the writes made before it in the same context. One GraphQL request is one
// session.
func WithSession(ctx context.Context) context.Context {
	return context.WithValue(ctx, sessionKey{}, &session{tokens: map[string]SessionToken{}})
}

// session keeps one token for every container. It may be used concurrently.
type session struct {
	mu     sync.Mutex
	tokens map[string]SessionToken
}

func (s *session) token(container string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[container].String()
}

func (s *session) keep(container, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.tokens[container]
	if known == nil {
		known = SessionToken{}
		s.tokens[container] = known
	}
	known.Merge(token)
}

// sessionPolicy carries the tokens: azcosmos never does it by itself, and without them a replica may answer that has
// not yet seen the session's own writes.
type sessionPolicy struct{}

func (sessionPolicy) Do(request *policy.Request) (*http.Response, error) {
	session, ok := request.Raw().Context().Value(sessionKey{}).(*session)
	if !ok {
		return request.Next()
	}
	target, ok := TargetOf(request.Raw())
	if !ok {
		return request.Next()
	}
	if token := session.token(target.Container); token != "" {
		request.Raw().Header.Set(SessionTokenHeader, token)
	}
	response, err := request.Next()
	if err == nil {
		session.keep(target.Container, response.Header.Get(SessionTokenHeader))
	}
	return response, err
}

// SessionToken is how far a session has seen a container: for every partition key range, by its id, the latest
// position. The service writes it "range:position,range:position".
type SessionToken map[string]string

// String gives the token as it is sent, the ranges in order.
func (t SessionToken) String() string {
	if len(t) == 1 { // nearly always
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

// Merge takes in an answer's token. Of two positions of a range the later one stays; a text that is no token changes
// nothing.
func (t SessionToken) Merge(token string) {
	for part := range strings.SplitSeq(token, ",") {
		id, position, ok := strings.Cut(part, ":")
		if ok && !laterPosition(t[id], position) {
			t[id] = position
		}
	}
}

// laterPosition tells whether a is later than b. A position is "version#number#region=number…": a range that moved has
// a greater version; the first number counts all of the range's writes, those of the regions are parts of it.
func laterPosition(a, b string) bool {
	aVersion, aNumber := parsePosition(a)
	bVersion, bNumber := parsePosition(b)
	return aVersion > bVersion || aVersion == bVersion && aNumber > bNumber
}

// SessionLSN returns the log sequence number in the session token of an answer about one physical
// partition: the last write that the answering replica knows. It is below 0 if there is none.
func SessionLSN(response *http.Response) int64 {
	_, position, _ := strings.Cut(response.Header.Get(SessionTokenHeader), ":")
	_, number := parsePosition(position)
	return number
}

// parsePosition gives the version and the number; of the older form "number" alone the version is 0. What cannot be
// read is earlier than all that can.
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
