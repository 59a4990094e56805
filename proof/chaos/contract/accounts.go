package contract

import (
	"slices"
	"strings"
	"time"
)

// account is everything that happened to an account's user. A user who was deleted may return, with
// the same id. The time between two deletions is a life.
type account struct {
	name      string
	userID    string
	namings   []*Operation // createUser, updateUser
	deletions []*Operation // deleteUser
	reads     []*Operation
	mutations []*Operation // all that were acknowledged
	username  register     // the username, in lower case; empty if there is no user
	names     register     // the last username as answers show it. What is left of a deleted user still has it
}

func normalized(username string) string { return strings.ToLower(username) }

// add adds a request of the account for its user.
func (a *account) add(o *Operation) {
	switch o.Kind {
	case CreateUser, UpdateUser:
		a.namings = append(a.namings, o)
		a.username.add(o, normalized(o.Username))
		a.names.add(o, o.named())
	case DeleteUser:
		a.deletions = append(a.deletions, o)
		a.username.add(o, "")
	case ReadViewer:
		a.reads = append(a.reads, o)
	}
	if o.User != nil && a.userID == "" {
		a.userID = o.User.ID
	}
}

// named returns the username after a naming. If the user had that username before, it may be in
// other cases than the request has it.
func (o *Operation) named() string {
	if o.User != nil {
		return o.User.Username
	}
	return o.Username
}

// mayHaveEnded reports whether a deletion that began before a time may have deleted what the
// account wrote since another time.
func (a *account) mayHaveEnded(since, by time.Duration) bool {
	for _, d := range a.deletions {
		if d.mayBeDone() && d.Invoked < by && d.end() > since {
			return true
		}
	}
	return false
}

// hasEnded reports whether a deletion has certainly deleted what the account wrote between two
// times.
func (a *account) hasEnded(invoked, completed time.Duration) bool {
	for _, d := range a.deletions {
		if d.isDone() && (completed < d.Invoked || invoked < d.Completed && completed < a.nextLife(d)) {
			return true
		}
	}
	return false
}

// nextLife returns the earliest time at which the account may have a user again after a deletion.
func (a *account) nextLife(deletion *Operation) time.Duration {
	next := forever
	for _, o := range a.namings {
		if o.Kind == CreateUser && o.mayBeDone() && o.end() > deletion.Invoked {
			next = min(next, o.Invoked)
		}
	}
	return next
}

// interruptedRename is how long a username may stay taken if a server stopped while its user gave
// it up (docs/clients.md).
const interruptedRename = 10 * time.Second

// mayHold reports whether the account's user may have had, or been about to get, a username between
// two times. It includes the time after an interrupted rename.
func (a *account) mayHold(username string, from, until time.Duration) bool {
	for _, w := range a.namings {
		isConcurrent := w.Completed > from
		if normalized(w.Username) != username || w.Invoked >= until || !w.mayBeDone() && !isConcurrent {
			continue
		}
		if !a.hasReleased(w, from) || w.Completed > from-interruptedRename && a.wasInterrupted(w, until) {
			return true
		}
	}
	return false
}

// wasInterrupted reports whether the outcome of a naming between another one and a time is unknown.
func (a *account) wasInterrupted(since *Operation, until time.Duration) bool {
	return slices.ContainsFunc(a.namings, func(o *Operation) bool {
		return o.Outcome == Unknown && o.Invoked > since.Invoked && o.Invoked < until
	})
}

// hasReleased reports whether the user certainly had another username after a naming and before a
// time. A deletion frees the username at an unknown later time.
func (a *account) hasReleased(naming *Operation, by time.Duration) bool {
	for _, x := range a.namings {
		if x.isDone() && normalized(x.Username) != normalized(naming.Username) &&
			x.Invoked > naming.end() && x.Completed < by {
			return true
		}
	}
	return false
}

// tenure is a time in which a user certainly had a username.
type tenure struct {
	account     *account
	from, until time.Duration
	naming      *Operation
}

// tenures returns the times in which the account's user certainly had a username, by username.
func (a *account) tenures(add func(username string, t tenure)) {
	for _, w := range a.namings {
		if !w.isDone() {
			continue
		}
		t := tenure{a, w.Completed, forever, w}
		for _, x := range append(a.namings[:len(a.namings):len(a.namings)], a.deletions...) {
			if x != w && x.mayBeDone() && x.end() > w.Invoked {
				t.until = min(t.until, x.Invoked)
			}
		}
		if t.from < t.until {
			add(normalized(w.Username), t)
		}
	}
}

// checkAccounts checks the answers of requests for users.
func (c *checker) checkAccounts() {
	all := map[string][]tenure{}
	for _, a := range sorted(c.accounts) {
		a.tenures(func(username string, t tenure) { all[username] = append(all[username], t) })
		for _, o := range a.namings {
			c.checkNaming(a, o)
		}
		for _, o := range a.deletions {
			if o.Outcome == Rejected && o.Code == "BAD_USER_INPUT" &&
				!a.username.permitsOther(normalized(o.Username), o.Invoked, o.Completed) {
				c.report(Unjustified, "%v, but that was the username", o)
			}
		}
		c.checkViewerReads(a)
	}
	for _, tenures := range sorted(all) {
		for i, t := range tenures {
			for _, u := range tenures[:i] {
				if t.account != u.account && max(t.from, u.from) < min(t.until, u.until) {
					c.report(DuplicateUsername, "%q was held at %v by %s and %s: %v; %v",
						t.naming.Username, max(t.from, u.from), t.account.name, u.account.name, t.naming, u.naming)
				}
			}
		}
	}
}

func (c *checker) checkNaming(a *account, o *Operation) {
	username := normalized(o.Username)
	if o.isDone() && (o.User == nil || o.User.ID != a.userID || normalized(o.User.Username) != username) {
		c.report(WrongAnswer, "%v returned the user %+v", o, o.User)
	}
	switch o.Code {
	case "USERNAME_TAKEN":
		for _, other := range c.accounts {
			if other != a && other.mayHold(username, o.Invoked, o.Completed) {
				return
			}
		}
		c.report(Unjustified, "%v, but no other user can have had the username", o)
	case "ACCOUNT_HAS_USER":
		if !a.username.has(floor{at: o.Invoked}, o.Completed, func(v string) bool { return v != "" && v != username }) {
			c.report(Unjustified, "%v, but the account can have had no user with another username", o)
		}
	}
}

// checkViewerReads checks that each read of a user shows a username that the user may have had.
func (c *checker) checkViewerReads(a *account) {
	for _, o := range a.reads {
		if o.isDone() && o.User != nil {
			a.username.witness(normalized(o.User.Username), o.Completed)
		}
	}
	for _, o := range a.reads {
		if !o.isDone() {
			continue
		}
		shown := ""
		if o.User != nil {
			shown = normalized(o.User.Username)
		}
		permits := func(f floor) bool { return a.username.permitsAfter(shown, f, o.Completed) }
		c.expect(c.floors(o, slices.Concat(a.namings, a.deletions)), permits, StaleAnswer, "%v returned the username %q", o, shown)
	}
}

// codes are the codes that the schema lists for a mutation, without those of all mutations, and
// without those that correct requests never get.
var codes = map[Kind][]string{
	CreateUser:    {"USERNAME_TAKEN", "ACCOUNT_HAS_USER", "TRY_AGAIN"},
	UpdateUser:    {"USERNAME_TAKEN", "TRY_AGAIN"},
	DeleteUser:    {"BAD_USER_INPUT", "TRY_AGAIN"},
	CreatePost:    {"NOT_FOUND"},
	UpdatePost:    {"NOT_FOUND", "FORBIDDEN", "CONFLICT", "TRY_AGAIN"},
	DeletePost:    {"NOT_FOUND", "FORBIDDEN", "TRY_AGAIN"},
	CreateComment: {"NOT_FOUND"},
	UpdateComment: {"NOT_FOUND", "FORBIDDEN"},
	DeleteComment: {"NOT_FOUND", "FORBIDDEN"},
	LikePost:      {"NOT_FOUND"},
	UnlikePost:    {"NOT_FOUND", "TRY_AGAIN"},
}

// checkRejection checks that a mutation can have the code that it was rejected with, and the codes
// that say that the account has no user.
func (c *checker) checkRejection(o *Operation) {
	a := c.account(o.Account)
	switch o.Code {
	case "USER_REQUIRED":
		if o.Kind == CreateUser || !a.username.permits("", o.Invoked, o.Completed) {
			c.report(Unjustified, "%v, but the account had a user", o)
		}
	case "DELETION_UNDER_WAY":
		if !a.mayHaveEnded(-1, o.Completed) {
			c.report(Unjustified, "%v, but nobody deleted the user", o)
		}
	case "THROTTLED", "UNAVAILABLE", "OVERLOADED", NotSent:
	default: // reads of correct ids have no code but these
		if !slices.Contains(codes[o.Kind], o.Code) {
			c.report(Unjustified, "%v, which the schema does not list", o)
		}
	}
}
