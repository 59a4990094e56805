package sessions

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// userID has the form of a user's id.
const userID = "u_aaaaaaaaaaaaaaaaaaaaaaaaaa"

func written(t *testing.T, text string) Token {
	t.Helper()
	tokens, err := cosmos.ParseSessionTokens(text)
	if err != nil {
		t.Fatal(err)
	}
	return Token{Written: tokens, At: timesOf(tokens[source], writtenAt)}
}

// writtenAt is the time of the tokens of written.
var writtenAt = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

func TestToken(t *testing.T) {
	renamed := written(t, "posts=0:-1#12;users=1:-1#3")
	renamed.User = &User{ID: userID, Revision: 4, Username: "grace"}
	for _, token := range []Token{
		written(t, "posts=0:-1#1"), written(t, "posts=0:-1#1;users=0:3#12#1=4,17:9"), renamed, {User: &User{ID: userID, Revision: 3, Deleted: true}},
	} {
		got, err := Parse(token.String())
		if err != nil || got.String() != token.String() || (got.User == nil) != (token.User == nil) {
			t.Errorf("%v: %v, %v", token, got, err)
		}
		if got.User != nil && *got.User != *token.User {
			t.Errorf("the user is %+v, want %+v", got.User, token.User)
		}
	}
	if text := (Token{}).String(); text != "" {
		t.Errorf("the empty token is %q", text)
	}
}

// Several tokens of a header become one, with the later position of each range and the later state
// of the user.
func TestJoinedTokens(t *testing.T) {
	one, two := written(t, "posts=0:-1#5,1:-1#2"), written(t, "posts=0:-1#4,2:-1#1;users=0:-1#1")
	one.User, two.User = &User{ID: userID, Revision: 5, Username: "new"}, &User{ID: userID, Revision: 4, Username: "old"}
	for _, header := range []string{one.String() + "," + two.String(), two.String() + ", " + one.String()} {
		got, err := Parse(header)
		if err != nil || got.Written.String() != "posts=0:-1#5,1:-1#2,2:-1#1;users=0:-1#1" || got.User.Username != "new" {
			t.Errorf("%s: %v %+v, %v", header, got.Written, got.User, err)
		}
	}
}

// Of two writes, the later position counts. A lower number that was written long after the other
// one shows that the database has lost that.
func TestJoinedTimes(t *testing.T) {
	at := func(text string, after time.Duration) Token {
		token := written(t, text)
		token.At = timesOf(token.Written[source], writtenAt.Add(after))
		return token
	}
	for _, test := range []struct {
		one, other Token
		want       string
		at         time.Duration
	}{
		{at("posts=0:-1#5", 0), at("posts=0:-1#7", time.Second), "0:-1#7", time.Second},
		{at("posts=0:-1#7", 0), at("posts=0:-1#5", time.Second), "0:-1#7", time.Second},
		{at("posts=0:-1#7", 0), at("posts=0:-1#5", lostWriteAge+time.Second), "0:-1#5", lostWriteAge + time.Second},
		{at("posts=0:-1#5", 0), at("posts=0:-1#7", lostWriteAge+time.Second), "0:-1#7", lostWriteAge + time.Second},
	} {
		for _, got := range []Token{test.one.Join(test.other), test.other.Join(test.one)} {
			if got.Written[source].String() != test.want || !got.At["0"].Equal(writtenAt.Add(test.at)) {
				t.Errorf("got %v at %v, want %s after %v", got.Written, got.At, test.want, test.at)
			}
		}
		if again, err := Parse(test.one.String() + "," + test.other.String()); err != nil || again.Written[source].String() != test.want {
			t.Errorf("parsed: %v, %v", again, err)
		}
	}
}

// A checkpoint counts for a write only if it was read after that, or shortly before. One that was
// read long after a write and has not passed it never will.
func TestPassed(t *testing.T) {
	r := reading{asOf: map[string]time.Time{}, views: cosmos.SessionTokens{}}
	r.addLease(changefeed.Lease{Position: "0:-1#5", AsOf: blog.NewDateTime(writtenAt)})
	r.addLease(changefeed.Lease{Position: "1:-1#9", AsOf: blog.NewDateTime(writtenAt.Add(time.Hour))})
	for _, test := range []struct {
		id, position string
		after        time.Duration // between the checkpoint of range 0 and the write
		want         bool
	}{
		{"0", "-1#5", -time.Hour, true},
		{"0", "-1#5", maxPositionAge, true},
		{"0", "-1#5", maxPositionAge + 1, false},
		{"0", "-1#6", 0, false},
		{"0", "-1#6", -lostWriteAge, false},
		{"0", "-1#6", -lostWriteAge - 1, true},
		{"1", "-1#9", maxPositionAge + 1, true},
		{"7", "-1#6", 0, false}, // of a range that no checkpoint names
		{"7", "-1#6", -lostWriteAge - 1, true},
	} {
		if got := r.has(test.id, test.position, writtenAt.Add(test.after)); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// Times that a client has made up are no later than its request.
func TestTimesInTheFuture(t *testing.T) {
	token := written(t, "posts=0:-1#5,1:-1#6")
	token.At["1"] = writtenAt.Add(time.Hour)
	got := token.notAfter(writtenAt.Add(time.Second))
	if !got.At["0"].Equal(writtenAt) || !got.At["1"].Equal(writtenAt.Add(time.Second)) || !token.At["1"].Equal(writtenAt.Add(time.Hour)) {
		t.Errorf("the times are %v, those of the token %v", got.At, token.At)
	}
}

// A token has at most maxRanges positions of a container: first the latest ones.
func TestRangesAreBounded(t *testing.T) {
	var all Token
	for i := range 3 * maxRanges {
		all = all.Join(written(t, fmt.Sprintf("posts=%d:-1#7", i)))
	}
	last := fmt.Sprint(3*maxRanges - 1)
	if n := len(all.Written["posts"]); n != maxRanges || all.Written["posts"][last] == "" {
		t.Errorf("%d ranges: %v", n, all.Written)
	}
	if _, err := Parse(all.String()); err != nil {
		t.Error(err)
	}
	var many []string
	for i := range maxRanges + 1 {
		many = append(many, fmt.Sprintf("%d:-1#7", i))
	}
	for _, text := range []string{"posts=" + strings.Join(many, ","), strings.Repeat("x", maxTokenBytes)} {
		if _, err := Parse(base64.RawURLEncoding.EncodeToString([]byte(text))); blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// What an account has written is remembered for rememberFor at least, and for twice as long at
// most.
func TestAccounts(t *testing.T) {
	var a accounts
	now := time.Now()
	remember := func(account, text string) { a.remember(account, a.recall(account, now), written(t, text), nil, now) }
	remember("ada", "posts=0:-1#1")
	now = now.Add(rememberFor - time.Second)
	remember("ada", "posts=0:-1#2")
	remember("bob", "posts=0:-1#3")
	now = now.Add(rememberFor - time.Second)
	for account, want := range map[string]string{"ada": "posts=0:-1#2", "bob": "posts=0:-1#3", "carla": ""} {
		if got := a.recall(account, now).Written.String(); got != want {
			t.Errorf("%s has %q, want %q", account, got, want)
		}
	}
	now = now.Add(rememberFor + 2*time.Second)
	for _, account := range []string{"ada", "bob"} {
		if got := a.recall(account, now); !got.isEmpty() {
			t.Errorf("%s has %v after %v", account, got, 2*rememberFor)
		}
	}
	for i := range 3 * maxAccounts {
		remember(fmt.Sprint(i), "posts=0:-1#1")
	}
	if n := len(a.latest) + len(a.former); n > 2*maxAccounts || a.recall(fmt.Sprint(3*maxAccounts-1), now).isEmpty() {
		t.Errorf("%d accounts are remembered", n)
	}
}

// Tokens share no maps with those that are made of them: other requests read them meanwhile.
func TestTokensAreNotChanged(t *testing.T) {
	done := written(t, "posts=0:-1#5")
	for name, made := range map[string]Token{
		"followedBy": Token{}.followedBy(done, done.Written), "correct": done.correct("posts", cosmos.SessionToken{"0": "-1#4"}, writtenAt), "followedBy itself": done.followedBy(done, done.Written),
	} {
		made.Written["users"] = cosmos.SessionToken{}
		if made.Written["posts"]["0"] = "-1#6"; name == "correct" {
			delete(made.Written["posts"], "0")
		}
		if got := done.Written.String(); got != "posts=0:-1#5" {
			t.Errorf("%s: the token is now %s", name, got)
		}
	}
}

// The states of a mutation's writes replace those that a client made up. What the mutation has seen
// of other ranges does not: another server may have written there later.
func TestFollowedBy(t *testing.T) {
	seen, wrote := written(t, "posts=0:-1#5,1:-1#2;users=0:-1#1"), written(t, "posts=0:-1#5;leases=0:-1#9").Written
	made := written(t, "posts=0:-1#999,1:-1#3;users=0:-1#2").followedBy(seen, wrote)
	if got := made.Written.String(); got != "posts=0:-1#5,1:-1#3;users=0:-1#2" {
		t.Error(got)
	}
}

// Accounts are remembered beyond a rotation, also if others write then.
func TestRotation(t *testing.T) {
	var a accounts
	now := time.Now()
	remember := func(account, text string) { a.remember(account, a.recall(account, now), written(t, text), nil, now) }
	remember("ada", "posts=0:-1#1")
	now = now.Add(rememberFor - time.Second)
	remember("bob", "posts=0:-1#2")
	for range 10 {
		now = now.Add(rememberFor / 11)
		remember("carla", "posts=0:-1#3")
		if got := a.recall("bob", now); got.isEmpty() {
			t.Fatal("bob is forgotten")
		}
	}
}

// TestCorrect replaces the positions that a container has lost, and no others.
func TestCorrect(t *testing.T) {
	before := written(t, "posts=0:-1#5,1:-1#9;users=0:-1#3")
	for present, want := range map[string]string{
		"0:-1#5": "posts=0:-1#5,1:-1#9;users=0:-1#3",
		"2:-1#7": "posts=0:-1#5,2:-1#7;users=0:-1#3", // a part of a range that was split
		"1:-1#7": "posts=0:-1#5,1:-1#7;users=0:-1#3",
		"0:-1#4": "posts=0:-1#4,1:-1#9;users=0:-1#3",
		"7:-1#4": "posts=7:-1#4;users=0:-1#3", // the container has other ranges now
		"":       "posts=0:-1#5,1:-1#9;users=0:-1#3",
	} {
		token := cosmos.SessionToken{}
		token.Merge(present)
		at := writtenAt.Add(time.Hour)
		corrected := before.correct("posts", token, at)
		if got := corrected.Written.String(); got != want {
			t.Errorf("with %q, the token is %s", present, got)
		}
		for id, position := range corrected.Written["posts"] {
			wantAt := at
			if before.Written["posts"][id] == position {
				wantAt = writtenAt
			}
			if !corrected.At[id].Equal(wantAt) {
				t.Errorf("with %q, the range %s is of %v", present, id, corrected.At[id])
			}
		}
	}
	if got := written(t, "users=0:-1#3").correct("users", cosmos.SessionToken{"0": "-1#2"}, writtenAt); got.Written.String() != "users=0:-1#2" || got.At != nil {
		t.Error(got)
	}
}
