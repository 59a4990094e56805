// Package sessions lets clients read what they have written, on any server.
//
// Every mutation has a session token (Token): the states of the containers that it wrote to. A
// client sends it with later requests. The server also remembers the tokens of its own mutations
// for some minutes, by account, so a client of one server needs to send nothing.
//
// Users, posts, comments and likes are read with these states. Views (the feed, the lists of posts,
// the counters of posts) are written by projectors. A query of views waits until the checkpoints of
// the projectors have passed the state of posts, at most for MaxWait. It then reads the views with
// the states that the checkpoints contain, so that a replica that lags does not answer. If the
// checkpoints have not passed by then, the query is executed all the same, and its answer is marked
// as stale.
//
// A rename changes the copies of a username later. The account's own user is therefore shown with
// the new name wherever a copy still has a former one (Session.OwnUser).
package sessions

import (
	"context"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// MaxWait is the longest time that a query waits for views.
const MaxWait = 500 * time.Millisecond

// maxWaits is the number of queries that may wait at a time. Others are executed at once, and are
// stale.
const maxWaits = 1000

// Sessions are the sessions of one server's clients. It may be used concurrently.
type Sessions struct {
	db          *cosmos.DB
	checkpoints *checkpoints
	accounts    accounts
	waiting     chan struct{} // one element for each query that waits

	waits, waited, stale atomic.Int64 // waited in nanoseconds
}

// New returns the sessions of a database. It sends nothing. readInterval is the least time between
// two reads of the checkpoints, which all waiting queries share.
func New(db *cosmos.DB, readInterval time.Duration) *Sessions {
	return &Sessions{
		db: db,
		checkpoints: &checkpoints{
			feeds: changefeed.New(db), interval: readInterval, reading: make(chan struct{}, 1), late: map[string]string{},
		},
		waiting: make(chan struct{}, maxWaits),
	}
}

// Session is the session of one operation. A nil *Session is one that knows nothing. It may be used
// concurrently.
type Session struct {
	sessions   *Sessions
	account    string    // the user id of the account; empty if the request is anonymous
	remembered Token     // what the account has written on this server
	needed     Token     // what the client has written: also by the token that it sent
	begun      time.Time // by the database's clock
	meter      cosmos.Meter

	mu        sync.Mutex // guards the fields below
	changed   *User      // by this operation
	stale     bool
	isLost    bool   // the state of the account's user that the client has written, as it seems
	user      *User  // if isLost, the one that was read instead; nil if there is none
	unreached string // a partition of source that has not reached what the request sent; or empty
}

type sessionKey struct{}

// Begin begins the session of an operation: of an account's user id, or anonymous if it is empty,
// and with the token that the request sent. Reads in the returned context see what the client has
// written to users, posts, comments and likes.
func (s *Sessions) Begin(ctx context.Context, account string, sent Token) (context.Context, *Session) {
	x := &Session{sessions: s, account: account, begun: s.db.Now()}
	if account != "" {
		x.remembered = s.accounts.recall(account, time.Now())
	}
	x.needed = sent.notAfter(x.begun).Join(x.remembered)
	ctx = cosmos.WithMeter(cosmos.WithSession(context.WithValue(ctx, sessionKey{}, x)), &x.meter)
	cosmos.ClaimSession(ctx, x.needed.Written)
	return ctx, x
}

// Charged returns what the requests of the session were charged so far in RU, without those of a
// context with another meter. Of several sessions that wait for the same read of the checkpoints,
// one has its charge.
func (x *Session) Charged() float64 { return x.meter.Charged() }

// From returns the session of a context, or nil if it has none.
func From(ctx context.Context) *Session {
	x, _ := ctx.Value(sessionKey{}).(*Session)
	return x
}

// Ready reports whether the views contain what the client has written, as far as this server knows
// without a request. If so, reads of views in ctx show it. ctx must be that of Begin.
func (x *Session) Ready(ctx context.Context) bool {
	if x.needed.isEmpty() {
		return true
	}
	return !x.isDeleted() && x.claimViews(ctx)
}

// claimViews adds the states of the views to what reads of ctx must see, if the checkpoints have
// passed what the client has written. Otherwise it returns false.
func (x *Session) claimViews(ctx context.Context) bool {
	views, ok := x.sessions.checkpoints.passed(x.needed)
	if ok {
		cosmos.ClaimSession(ctx, views)
	}
	return ok
}

// isDeleted reports whether the account has deleted its user.
func (x *Session) isDeleted() bool {
	user := x.needed.User
	return user != nil && user.Deleted && user.ID == x.account
}

const (
	// The waits between two looks at the checkpoints double from the first to the last.
	firstPause = 5 * time.Millisecond
	lastPause  = 80 * time.Millisecond

	// maxCheckpointAge is the age of the checkpoints at which a query reads them again before it
	// decides whether to wait. If projectors are late, all queries of views would otherwise read them.
	maxCheckpointAge = 100 * time.Millisecond
)

// Wait waits until the views contain what the client has written, at most for MaxWait. It does not
// wait if it is known that the projectors need longer, that a deletion of the account's user is
// pending, which takes about a minute, if the client's token names a range that no checkpoint
// names, or if too many queries wait. In these cases, and if the wait was too short, the session is
// stale.
func (x *Session) Wait(ctx context.Context) {
	s := x.sessions
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		x.SetStale()
		return
	}
	s.waits.Add(1)
	begun := time.Now()
	defer func() { s.waited.Add(int64(time.Now().Sub(begun))) }()
	waiting, cancel := context.WithTimeout(ctx, MaxWait)
	defer cancel()
	if x.isDeleted() && !x.isDeletionDone(ctx, waiting) || !x.waitForViews(ctx, waiting) {
		x.SetStale()
	}
}

// waitForViews waits for the views until waiting ends. Reads of views in ctx then see them. It
// notes how far the projectors are behind, but only by states that this server has seen: a client
// could make up others.
func (x *Session) waitForViews(ctx, waiting context.Context) bool {
	s := x.sessions
	c := s.checkpoints
	c.read(waiting, time.Now().Add(-maxCheckpointAge))
	if x.claimViews(ctx) {
		return true
	}
	if c.isLate(x.needed.Written) || !c.nameAll(x.needed.Written[source], x.remembered.Written[source]) {
		return false
	}
	if !x.isReached(waiting) {
		return false
	}
	for pause := firstPause; cosmos.Sleep(waiting, pause) == nil; pause = min(2*pause, lastPause) {
		c.read(waiting, time.Now())
		if x.claimViews(ctx) {
			return true
		}
	}
	if ctx.Err() == nil {
		c.noteLate(x.remembered.Written)
	}
	return false
}

// isReached reports whether the account has reached the state of posts in the token that the
// request sent, by a point read of an item that does not exist. A state that this server has not
// seen itself can be made up, or of a database that was deleted since. Waiting for it would be in
// vain. Each call reads from another partition, so that no range has all these reads.
func (x *Session) isReached(waiting context.Context) bool {
	needed := x.needed.Written[source]
	if x.remembered.Written[source].Covers(needed.String()) {
		return true
	}
	probe := cosmos.WithSession(waiting)
	cosmos.ClaimSession(probe, cosmos.SessionTokens{source: needed})
	partition := string(blog.NewDateTime(x.begun))
	_, _, _ = cosmos.Read[struct{}](probe, x.sessions.db.Container(source), partition, partition)
	if len(cosmos.FailedClaims(probe)) == 0 {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unreached = partition
	return false
}

// isDeletionDone reports whether the posts, comments and likes of the account's deleted user are
// gone. It is false if the user cannot be read. If it is true, the server remembers that, and reads
// of views in ctx see the deletions.
func (x *Session) isDeletionDone(ctx, waiting context.Context) bool {
	s := x.sessions
	user, _, err := cosmos.Read[schema.UserItem](waiting, s.db.Container(schema.Users), x.account, x.account)
	if err != nil && !cosmos.IsNotFound(err) || err == nil && user.Deleted && !user.Gone() {
		return false
	}
	s.accounts.remember(x.account, x.remembered, Token{User: &User{ID: x.account, Revision: x.needed.User.Revision}}, nil, time.Now())
	s.checkpoints.read(waiting, time.Now())
	cosmos.ClaimSession(ctx, s.checkpoints.latestViews())
	return true
}

// SetStale notes that what the session reads of views may lack what the client has written.
func (x *Session) SetStale() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.stale {
		x.sessions.stale.Add(1)
	}
	x.stale = true
}

// IsStale reports whether what ctx has read may lack what the client has written. ctx must be that
// of Begin.
func (x *Session) IsStale(ctx context.Context) bool {
	if len(cosmos.FailedClaims(ctx)) > 0 {
		x.SetStale()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stale
}

// Finish ends the session of an operation. It returns the token of the answer, or an empty one if
// the client can keep the token that it has. ctx must be that of Begin.
//
// The token of a mutation has the states of the containers to which it sent writes, and what the
// request sent. If the database has lost a state that the request sent, the token has the present
// one instead, of a query too: the client's token is of a database that was restored or deleted.
//
// If a mutation also read views, the session is stale unless they contain what it wrote.
func (x *Session) Finish(ctx context.Context, isMutation, readsViews bool) Token {
	all, isHealed := x.healed(ctx)
	if !isMutation {
		if !isHealed {
			return Token{} // the client can keep its own
		}
		return all
	}
	done, written := x.done(ctx), cosmos.WrittenInSession(ctx)
	if !done.isEmpty() && x.account != "" {
		x.sessions.accounts.remember(x.account, x.remembered, done, written, time.Now())
	}
	all = all.followedBy(done, written)
	if readsViews {
		if _, ok := x.sessions.checkpoints.passed(all); !ok {
			x.SetStale()
		}
	}
	if done.isEmpty() && !isHealed {
		return done
	}
	return all
}

// healed returns what the client needs, with the present states instead of those that the database
// has lost, and whether there are such.
func (x *Session) healed(ctx context.Context) (all Token, isHealed bool) {
	x.mu.Lock()
	isLost, unreached := x.isLost, x.unreached
	x.mu.Unlock()
	claims := cosmos.FailedClaims(ctx)
	if len(claims) == 0 && !isLost && unreached == "" {
		return x.needed, false
	}
	failed := map[string]string{}
	maps.Copy(failed, claims)
	if failed[source] == "" {
		failed[source] = unreached
	}
	var heals []func(Token) Token
	for container, partition := range failed {
		// A token names no views: their states are those of the checkpoints.
		if !isWritten(container) || partition == "" {
			continue
		}
		// A replica that lags may have answered. It looks as if it had lost what it does not have yet.
		token, err := cosmos.LatestState(ctx, x.sessions.db.Container(container), partition)
		if err != nil {
			continue
		}
		present := cosmos.SessionToken{}
		present.Merge(token)
		heals = append(heals, func(t Token) Token { return t.correct(container, present, x.begun) })
	}
	if isLost {
		if user, err := x.presentUser(ctx); err == nil {
			heals = append(heals, func(t Token) Token { return t.correctUser(user) })
		}
	}
	heal := func(t Token) Token {
		for _, correct := range heals {
			t = correct(t)
		}
		return t
	}
	all = heal(x.needed)
	if isHealed = all.String() != x.needed.String(); isHealed && !x.remembered.isEmpty() {
		x.sessions.accounts.correct(x.account, x.remembered, heal(x.remembered))
	}
	return all, isHealed
}

// presentUser reads the latest state of the account's user, which a replica that lags may not have
// had yet. It is nil if there is none.
func (x *Session) presentUser(ctx context.Context) (*User, error) {
	user, _, err := cosmos.ReadLatest[schema.UserItem](cosmos.WithSession(ctx), x.sessions.db.Container(schema.Users), x.account)
	if cosmos.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &User{ID: x.account, Revision: user.Revision, Username: user.Username, Deleted: user.Deleted}, nil
}

// done returns what the mutations of ctx have changed.
func (x *Session) done(ctx context.Context) Token {
	x.mu.Lock()
	done := Token{User: x.changed}
	x.mu.Unlock()
	seen := cosmos.SessionTokens{}
	seen.Merge(cosmos.SeenAfterWrites(ctx))
	if done.User != nil { // also if an earlier request has changed the user already
		seen.Merge(cosmos.SessionTokens{schema.Users: cosmos.SeenInSession(ctx)[schema.Users]})
	}
	for container, token := range seen {
		if !isWritten(container) || len(token) == 0 {
			delete(seen, container)
		}
	}
	if len(seen) > 0 {
		done.Written, done.At = seen, timesOf(seen[source], x.begun)
	}
	return done
}

// UserChanged notes that a mutation has created, renamed or deleted the account's user. A creation
// matters only after another change.
func (x *Session) UserChanged(user *blog.User, renamed bool) {
	if x == nil || !renamed && !user.Deleted && x.needed.User == nil {
		return
	}
	changed := &User{ID: x.account, Revision: user.Revision, Deleted: user.Deleted}
	if renamed {
		changed.Username = strings.Clone(user.Username) // a part of the request, which must not stay in memory
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changed = changed
}

// UserRead notes that the session has read the account's user, or that there is none (nil). If that
// is a former state of what the client has written, the database has lost it.
func (x *Session) UserRead(id string, user *blog.User) {
	if x == nil || id != x.account || x.needed.User == nil || x.needed.User.ID != id || x.needed.User.Deleted {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.changed != nil || user != nil && user.Revision >= x.needed.User.Revision {
		return
	}
	if x.isLost = true; user != nil {
		x.user = &User{ID: id, Revision: user.Revision, Username: strings.Clone(user.Username)}
	}
}

// OwnUser returns the account's user after a rename that copies of the username may lack, or nil.
// Its username replaces that of a copy with a lower revision.
func (x *Session) OwnUser() *User {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	known := x.needed.User
	if x.isLost {
		known = x.user
	}
	user := x.changed.after(known)
	if user == nil {
		user = known
	}
	x.mu.Unlock()
	if user == nil || user.Username == "" || user.ID != x.account {
		return nil
	}
	return user
}

// Stats are numbers since the start.
type Stats struct {
	Waits  int64         // queries of views that lacked what their client had written; some need not wait
	Waited time.Duration // the sum of their waits
	Stale  int64         // answers that were marked as stale
	Charge float64       // of reading the checkpoints, in RU
}

// Stats returns the numbers so far.
func (s *Sessions) Stats() Stats {
	return Stats{s.waits.Load(), time.Duration(s.waited.Load()), s.stale.Load(), s.checkpoints.meter.Charged()}
}
