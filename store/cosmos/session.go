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
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// SessionTokenHeader is the header of requests and answers that carries the session token.
const SessionTokenHeader = "X-Ms-Session-Token"

type sessionKey struct{}

// WithSession returns a context whose requests form a session: a read sees all earlier writes of
// the context. The context keeps the session token of every answer, and sends it with later
// requests to the same container. One GraphQL request is one session.
func WithSession(ctx context.Context) context.Context {
	return context.WithValue(ctx, sessionKey{}, &session{tokens: map[string]SessionToken{}})
}

// InSession returns ctx if it has a session, and otherwise a context with a new one.
func InSession(ctx context.Context) context.Context {
	if _, ok := ctx.Value(sessionKey{}).(*session); ok {
		return ctx
	}
	return WithSession(ctx)
}

// SessionTokenOf returns the state of a container that the session of ctx has seen, as a session
// token. It is empty if there is none.
func SessionTokenOf(ctx context.Context, container string) string {
	if s, ok := ctx.Value(sessionKey{}).(*session); ok {
		return s.token(container)
	}
	return ""
}

// JoinSession adds what another session has seen of a container to the session of ctx, as a session
// token. Later reads of ctx see that state, or a later one.
func JoinSession(ctx context.Context, container, token string) {
	if s, ok := ctx.Value(sessionKey{}).(*session); ok {
		s.keep(container, token)
	}
}

// session holds the session token of each container. It may be used concurrently.
type session struct {
	mu       sync.Mutex
	tokens   map[string]SessionToken
	advanced map[[2]string]bool // containers and partitions of AdvanceSessionOnce
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

// sessionPolicy sends and stores the session tokens, which azcosmos does not do. Without a token, a
// replica that does not have the session's own writes yet may answer.
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
	if err == nil && hasUsableToken(response) {
		session.keep(target.Container, response.Header.Get(SessionTokenHeader))
	}
	return response, err
}

// hasUsableToken reports whether the session token of a response may be sent with later reads: that
// of a success, of a failed condition (409, 412), or of a missing item. The token of another
// response, such as 429, may name a state that no replica has reached yet, and reads with it would
// fail. The SDKs of the service keep the same ones (azure-cosmos-dotnet-v3 pull request 6081).
func hasUsableToken(response *http.Response) bool {
	switch status := response.StatusCode; status {
	case http.StatusConflict, http.StatusPreconditionFailed:
		return true
	case http.StatusNotFound:
		return substatusOf(response) != ReadSessionNotAvailable
	default:
		return status < http.StatusBadRequest
	}
}

// AdvanceSession makes the session of ctx current in a partition: later reads in it see every write
// that was acknowledged before. A read without that may be answered by a replica that is behind.
//
// Writes are executed on the latest state. AdvanceSession therefore sends a patch whose condition
// is never true; the rejection carries the current session token. The item need not exist. Without
// a session in ctx, AdvanceSession has no effect.
func AdvanceSession(ctx context.Context, c *azcosmos.ContainerClient, partition, id string) error {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/revision", 0)
	err := PatchIf(ctx, c, partition, id, "c.id = ''", changes)
	if IsRaceLost(err) {
		return nil
	}
	return err
}

// AdvanceSessionOnce is AdvanceSession, unless the session was advanced in the partition before.
// While a projector handles one page of changes, it thus sends at most one such request for each
// partition.
func AdvanceSessionOnce(ctx context.Context, c *azcosmos.ContainerClient, partition, id string) error {
	session, ok := ctx.Value(sessionKey{}).(*session)
	if !ok {
		return nil
	}
	place := [2]string{c.ID(), partition}
	session.mu.Lock()
	advanced := session.advanced[place]
	session.mu.Unlock()
	if advanced {
		return nil
	}
	if err := AdvanceSession(ctx, c, partition, id); err != nil {
		return err
	}
	session.mu.Lock()
	defer session.mu.Unlock()
	if session.advanced == nil {
		session.advanced = map[[2]string]bool{}
	}
	session.advanced[place] = true
	return nil
}

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
