package sessions

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
)

func written(t *testing.T, text string) Token {
	t.Helper()
	tokens, err := cosmos.ParseSessionTokens(text)
	if err != nil {
		t.Fatal(err)
	}
	return Token{Written: tokens}
}

func TestToken(t *testing.T) {
	renamed := written(t, "posts=0:-1#12;users=1:-1#3")
	renamed.User = &User{ID: "u_1", Revision: 4, Username: "grace"}
	for _, token := range []Token{
		written(t, "posts=0:-1#1"), written(t, "lists=0:3#12#1=4,17:9;posts=0:-1#1"), renamed, {User: &User{ID: "u_1", Revision: 3, Deleted: true}},
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
	one.User, two.User = &User{ID: "u_1", Revision: 5, Username: "new"}, &User{ID: "u_1", Revision: 4, Username: "old"}
	for _, header := range []string{one.String() + "," + two.String(), two.String() + ", " + one.String()} {
		got, err := Parse(header)
		if err != nil || got.Written.String() != "posts=0:-1#5,1:-1#2,2:-1#1;users=0:-1#1" || got.User.Username != "new" {
			t.Errorf("%s: %v %+v, %v", header, got.Written, got.User, err)
		}
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
	a.remember("ada", written(t, "posts=0:-1#1"), now)
	now = now.Add(rememberFor - time.Second)
	a.remember("ada", written(t, "posts=0:-1#2"), now)
	a.remember("bob", written(t, "posts=0:-1#3"), now)
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
		a.remember(fmt.Sprint(i), written(t, "posts=0:-1#1"), now)
	}
	if n := len(a.latest) + len(a.former); n > 2*maxAccounts || a.recall(fmt.Sprint(3*maxAccounts-1), now).isEmpty() {
		t.Errorf("%d accounts are remembered", n)
	}
}
