package cosmos

import (
	"context"
	"maps"
	"sync"
	"time"
)

// SessionTokenHeader is the header of requests and answers that carries the session token.
const SessionTokenHeader = "X-Ms-Session-Token"

// WithSession returns a context whose requests form a session: a read sees all earlier writes of
// the context. The context keeps the session token of every answer, and sends it with later
// requests to the same container. One GraphQL request is one session.
func WithSession(ctx context.Context) context.Context {
	return withCall(ctx, func(c *call) { c.session = &session{seen: SessionTokens{}} })
}

// InSession returns ctx if it has a session, and otherwise a context with a new one.
func InSession(ctx context.Context) context.Context {
	if callOf(ctx).session != nil {
		return ctx
	}
	return WithSession(ctx)
}

// InSessionOf returns ctx with the session of another context, which must have one.
func InSessionOf(ctx, other context.Context) context.Context {
	return withCall(ctx, func(c *call) { c.session = callOf(other).session })
}

// SessionTokenOf returns the state of a container that the session of ctx has seen, as a session
// token. It is empty if there is none. It does not contain claims.
func SessionTokenOf(ctx context.Context, container string) string {
	if s := callOf(ctx).session; s != nil {
		return s.token(container)
	}
	return ""
}

// NeededSession returns the state of a container that reads of ctx must see: what the session has
// seen, and what was claimed for it.
func NeededSession(ctx context.Context, container string) string {
	if s := callOf(ctx).session; s != nil {
		token, _ := s.needed(container)
		return token
	}
	return ""
}

// JoinSession adds what another session has seen of a container to the session of ctx, as a session
// token. Later reads of ctx see that state, or a later one.
func JoinSession(ctx context.Context, container, token string) {
	if s := callOf(ctx).session; s != nil {
		s.join(container, token)
	}
}

// ClaimSession adds states of containers to what reads of ctx must see. Unlike the states of
// JoinSession, nobody has verified them. If no replica has a state, also after a short wait, the
// claim of its container is dropped, and the read is sent without it. FailedClaims then has the
// container.
func ClaimSession(ctx context.Context, claimed SessionTokens) {
	s := callOf(ctx).session
	if s == nil || len(claimed) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimed == nil {
		s.claimed = SessionTokens{}
	}
	s.claimed.Merge(claimed)
}

// FailedClaims returns the containers whose claims were dropped, each with the partition key of the
// read that was rejected, or "" if it had none. What ctx read of them may be older than the claim.
// The result must not be changed.
func FailedClaims(ctx context.Context) map[string]string {
	s := callOf(ctx).session
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// IsSessionLost reports whether the requests of ctx were rejected for some seconds, because no
// replica had reached what its session has seen: the database has lost that, and further reads of
// the session fail, too. It matters for a session that outlives a request.
func IsSessionLost(ctx context.Context) bool {
	s := callOf(ctx).session
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range s.rejected {
		if of.last.Sub(of.first) >= sessionLostAfter {
			return true
		}
	}
	return false
}

// IsLostIn reports whether err is the rejection of a read in the session of ctx, which is lost
// (IsSessionLost). The database then went back to an earlier state.
func IsLostIn(ctx context.Context, err error) bool {
	_, substatus := StatusOf(err)
	return substatus == ReadSessionNotAvailable && IsSessionLost(ctx)
}

// sessionLostAfter is the time after which a session is lost if all its requests are rejected. All
// go to the region that writes, in which one replica has all writes, and the service asks several.
const sessionLostAfter = 5 * time.Second

// SeenInSession returns a copy of the states that the session of ctx has seen.
func SeenInSession(ctx context.Context) SessionTokens {
	return copyOf(ctx, func(s *session) SessionTokens { return s.seen })
}

// WrittenInSession returns a copy of the states that the successful writes of ctx have produced. It
// has no containers to which ctx did not write.
func WrittenInSession(ctx context.Context) SessionTokens {
	return copyOf(ctx, func(s *session) SessionTokens { return s.written })
}

// FirstWrittenInSession returns a copy of the states that the first of the successful writes of ctx
// have produced.
func FirstWrittenInSession(ctx context.Context) SessionTokens {
	return copyOf(ctx, func(s *session) SessionTokens { return s.first })
}

// SeenAfterWrites returns a copy of the states in the answers to the writes of ctx, also to those
// that failed, and to later requests to the same containers. A write whose answer was lost is part
// of them if a later request has found it. States that ctx has joined are not.
func SeenAfterWrites(ctx context.Context) SessionTokens {
	return copyOf(ctx, func(s *session) SessionTokens { return s.since })
}

// copyOf returns a copy of states of the session of ctx, or nil if it has none.
func copyOf(ctx context.Context, states func(*session) SessionTokens) SessionTokens {
	s := callOf(ctx).session
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return states(s).Clone()
}

// session holds the session token of each container. It may be used concurrently.
type session struct {
	mu       sync.Mutex
	seen     SessionTokens         // of all answers, and joined
	written  SessionTokens         // of the answers to successful writes; nil before the first one
	first    SessionTokens         // of the earliest of these answers; nil before
	since    SessionTokens         // of the answers since a write was sent to the container; nil before
	claimed  SessionTokens         // of ClaimSession; nil before its first call
	failed   map[string]string     // as FailedClaims returns them; not changed, but replaced
	rejected map[string]rejections // by container; nil before the first
	advanced map[[2]string]bool    // containers and partitions of AdvanceSessionOnce
}

// rejections are the times of the first and the last of several answers in a row that rejected a
// session token, because no replica had reached it.
type rejections struct{ first, last time.Time }

func (s *session) token(container string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[container].String()
}

// needed returns the session token for a read of a container, and whether it contains a claim.
func (s *session) needed(container string) (token string, claimed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	claim := s.claimed[container]
	if len(claim) == 0 {
		return s.seen[container].String(), false
	}
	both := maps.Clone(claim)
	both.join(s.seen[container])
	return both.String(), true
}

// join adds a session token of another session.
func (s *session) join(container, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.of(container).Merge(token)
}

// keep adds the session token of an answer.
func (s *session) keep(container, token string, ofWrite bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.of(container).Merge(token)
	if s.since[container] != nil {
		s.since.of(container).Merge(token)
	}
	if ofWrite {
		if s.written == nil {
			s.written = SessionTokens{}
		}
		s.written.of(container).Merge(token)
		if s.first == nil {
			s.first = SessionTokens{}
		}
		s.first.of(container).MergeEarlier(token)
	}
}

// dropClaim removes the claim of a container, which no replica of a partition has reached.
func (s *session) dropClaim(container, partition string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimed[container] != nil {
		delete(s.claimed, container)
		failed := map[string]string{}
		maps.Copy(failed, s.failed)
		failed[container] = partition
		s.failed = failed
	}
}

// noteRejected notes whether no replica has reached the token of a request to a container.
func (s *session) noteRejected(container string, isRejected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, isKnown := s.rejected[container]
	switch {
	case !isRejected:
		delete(s.rejected, container)
		return
	case s.rejected == nil:
		s.rejected = map[string]rejections{}
	}
	if of.last = time.Now(); !isKnown {
		of.first = of.last
	}
	s.rejected[container] = of
}

// sends notes that a write is sent to a container.
func (s *session) sends(container string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since == nil {
		s.since = SessionTokens{}
	}
	s.since.of(container)
}
