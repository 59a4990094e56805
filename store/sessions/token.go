package sessions

import (
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Token is what a client has changed. Answers contain it as text, which clients send back. It must
// not be changed, because the requests of an account share it.
//
// A token is not signed. Whoever makes one up gets older or slower answers, and nobody else does.
type Token struct {
	// Written are the states of the containers that the client wrote to.
	Written cosmos.SessionTokens
	// At has, for each partition key range of source in Written, the time by the database's clock at
	// which the operation began that wrote it.
	At map[string]time.Time
	// User is the client's user after the last mutation that named, renamed or deleted it, or nil.
	User *User
}

// User is the state of a client's own user.
type User struct {
	ID       string
	Revision int64
	// Username is the name after a rename, also if the user was deleted since. It is empty if the user
	// has not been renamed.
	Username string
	Deleted  bool
}

const (
	// maxTokenBytes is the length of the longest text of tokens that Parse accepts.
	maxTokenBytes = 8 << 10

	// maxRanges is the number of partition key ranges of a container that a token names. A client that
	// writes to more of them, which takes an account of many physical partitions, is sure of its
	// latest writes only.
	maxRanges = 16

	separator      = "," // between the tokens of a header
	fieldSeparator = "|" // between the parts of a token's text
)

// String returns the text of the token: letters, digits, "-" and "_", usually less than 150, and at
// most about 4 KiB. It is empty if the token is.
func (t Token) String() string {
	if t.isEmpty() {
		return ""
	}
	text := t.Written.String() + fieldSeparator + timesText(t.At)
	if u := t.User; u != nil {
		text = strings.Join([]string{text, u.ID, strconv.FormatInt(u.Revision, 10), u.Username, strconv.FormatBool(u.Deleted)}, fieldSeparator)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// Parse parses the tokens of a header, separated by commas, and joins them. Error: BAD_USER_INPUT.
func Parse(header string) (Token, error) {
	var all Token
	if len(header) > maxTokenBytes {
		return all, errBadToken
	}
	for text := range strings.SplitSeq(header, separator) {
		t, err := parse(strings.TrimSpace(text))
		if err != nil {
			return Token{}, errBadToken
		}
		all = all.Join(t)
	}
	return all, nil
}

func parse(text string) (t Token, err error) {
	if text == "" {
		return t, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return t, err
	}
	fields := strings.Split(string(decoded), fieldSeparator)
	if t.Written, err = cosmos.ParseSessionTokens(fields[0]); err != nil {
		return t, err
	}
	for container, token := range t.Written {
		if !isWritten(container) || len(token) > maxRanges {
			return t, errBadToken
		}
	}
	if len(fields) < 2 {
		return t, errBadToken
	}
	if t.At, err = parseTimes(fields[1], t.Written[source]); err != nil {
		return t, err
	}
	if len(fields) > 2 {
		t.User, err = parseUser(fields[2:])
	}
	return t, err
}

// timesText returns the text of Token.At: "range:second,range:second", in Unix seconds.
func timesText(at map[string]time.Time) string {
	var b strings.Builder
	for i, id := range slices.Sorted(maps.Keys(at)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(id + ":" + strconv.FormatInt(at[id].Unix(), 10))
	}
	return b.String()
}

// parseTimes parses a result of timesText, which must have a time for each range of a token.
func parseTimes(text string, of cosmos.SessionToken) (map[string]time.Time, error) {
	var at map[string]time.Time
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		id, second, _ := strings.Cut(part, ":")
		unix, err := strconv.ParseInt(second, 10, 64)
		if err != nil || of[id] == "" || unix < 0 || unix > maxSecond {
			return nil, errBadToken
		}
		if at == nil {
			at = make(map[string]time.Time, len(of))
		}
		at[id] = time.Unix(unix, 0)
	}
	if len(at) != len(of) {
		return nil, errBadToken
	}
	return at, nil
}

const maxSecond = 1 << 40 // later times overflow

func parseUser(fields []string) (*User, error) {
	if len(fields) != 4 {
		return nil, errBadToken
	}
	u := &User{ID: fields[0], Username: fields[2]}
	var errs [4]error
	u.Revision, errs[0] = strconv.ParseInt(fields[1], 10, 64)
	u.Deleted, errs[1] = strconv.ParseBool(fields[3])
	if u.Username != "" {
		errs[2] = blog.CheckUsername(u.Username)
	}
	if id, err := blog.ParseRef(u.ID); err != nil || id.Type != blog.TypeUser {
		errs[3] = errBadToken
	}
	return u, errors.Join(errs[:]...)
}

// isWritten reports whether commands write to a container.
func isWritten(container string) bool {
	return container == schema.Users || container == schema.Posts || container == schema.Usernames
}

var errBadToken = blog.Errorf(blog.BadUserInput,
	"The header Cosmosblog-Session is not a session token of this API. Send the token of an answer to a mutation, or omit the header.")

func (t Token) isEmpty() bool { return len(t.Written) == 0 && t.User == nil }

// Join returns a token of what both have changed. later is the later one. Join changes neither.
func (t Token) Join(later Token) Token {
	if t.isEmpty() {
		return later
	}
	if later.isEmpty() {
		return t
	}
	joined := Token{Written: cosmos.SessionTokens{}, At: map[string]time.Time{}, User: t.User}
	joined.Written.Merge(t.Written)
	joined.Written.Merge(later.Written)
	for container, token := range joined.Written {
		joined.Written[container] = bounded(token, later.Written[container])
	}
	joined.joinTimes(t, later)
	if t.User == nil || later.User != nil && (later.User.ID != t.User.ID || later.User.Revision >= t.User.Revision) {
		joined.User = later.User.after(t.User)
	}
	return joined
}

// notAfter returns t without times after a given one, which a client has made up: it would wait for
// them in vain.
func (t Token) notAfter(now time.Time) Token {
	t.At = maps.Clone(t.At)
	for id, at := range t.At {
		if at.After(now) {
			t.At[id] = now
		}
	}
	return t
}

// joinTimes sets the times of a token that joins two others: the later one of each range. If a
// write has a lower number than one that was made long before, the database has lost the latter,
// and only the later one counts.
func (t Token) joinTimes(tokens ...Token) {
	for id := range t.Written[source] {
		var last Token
		for _, one := range tokens {
			if position := one.Written[source][id]; position != "" && one.At[id].After(last.At[id]) {
				last = one
			}
		}
		for _, one := range tokens {
			if position := one.Written[source][id]; position != "" && last.At[id].Sub(one.At[id]) > lostWriteAge {
				t.Written[source][id] = last.Written[source][id]
			}
		}
		t.At[id] = last.At[id]
	}
}

// after returns u with the username of a former state of the user, if u has none and the user still
// has that name: after a deletion, and after a mutation that changed nothing.
func (u *User) after(former *User) *User {
	if u == nil || former == nil || u.ID != former.ID || u.Username != "" || u.Revision > former.Revision && !u.Deleted {
		return u
	}
	named := *u
	named.Username = former.Username
	return &named
}

// followedBy is Join for a token of writes that came after everything in t. The states that the
// answers to these writes had are therefore later than those of t, unless t was made up.
func (t Token) followedBy(later Token, written cosmos.SessionTokens) Token {
	joined := t.Join(later)
	joined.Written = joined.Written.Clone() // Join may return one of the two
	for container, token := range written {
		if joined.Written[container] == nil {
			continue // commands of users write to no other containers
		}
		maps.Copy(joined.Written[container], token)
	}
	return joined
}

// correct returns t without the positions that a container has lost. present is the latest state of
// one of its ranges, at a time, which replaces a later position of that range. Positions of other
// ranges stay. If t does not name the range, it names a former one, from before a split, or of a
// container that was deleted: then all later positions may be lost. A split goes on with the
// numbers of its range.
func (t Token) correct(container string, present cosmos.SessionToken, at time.Time) Token {
	written, kept := t.Written[container], cosmos.SessionToken{}
	for id, position := range written {
		if now := latestOf(id, present, written); now == "" || (cosmos.SessionToken{id: now}).Covers(id+":"+position) {
			kept[id] = position
		}
	}
	if len(kept) == len(written) {
		return t
	}
	known := maps.Clone(present)
	for id := range kept {
		delete(known, id)
	}
	t.Written = t.Written.Clone()
	t.Written[container] = maps.Clone(kept)
	maps.Copy(t.Written[container], known)
	if container == source {
		times := timesOf(known, at)
		for id := range kept {
			times[id] = t.At[id]
		}
		t.At = times
	}
	return t
}

// latestOf returns the latest position of a range, by the latest state of one range, or "" if it is
// unknown. If that range is none of those that a client knows, it may continue any of them.
func latestOf(id string, present, known cosmos.SessionToken) string {
	for of, position := range present {
		if of == id || known[of] == "" {
			return position
		}
	}
	return ""
}

// correctUser returns t with the present user instead of one with a later revision, which the
// database has lost. present is nil if there is none.
func (t Token) correctUser(present *User) Token {
	if t.User == nil || present != nil && present.Revision >= t.User.Revision {
		return t
	}
	t.User = present
	return t
}

// timesOf returns one time for all ranges of a token.
func timesOf(token cosmos.SessionToken, at time.Time) map[string]time.Time {
	if len(token) == 0 {
		return nil
	}
	times := make(map[string]time.Time, len(token))
	for id := range token {
		times[id] = at
	}
	return times
}

// bounded returns at most maxRanges positions of a session token: first those of the ranges that
// another one names.
func bounded(token, first cosmos.SessionToken) cosmos.SessionToken {
	if len(token) <= maxRanges {
		return token
	}
	kept := cosmos.SessionToken{}
	for _, ids := range []cosmos.SessionToken{first, token} {
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			if len(kept) < maxRanges {
				kept[id] = token[id]
			}
		}
	}
	return kept
}
