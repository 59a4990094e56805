package cosmos_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestSession checks that the token of a write is sent with the next request to the same
// container in the same session, and with no other request.
func TestSession(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	session := cosmos.WithSession(w.Ctx())
	tokenOf := func(do func()) string {
		w.Wire.Inject(nil)
		do()
		return w.Wire.Requests()[0].Header.Get(cosmos.SessionTokenHeader)
	}

	if token := tokenOf(func() { _, _ = w.LikePost(session, ada, post.ID) }); token != "" {
		t.Errorf("the first request has the token %q, want none", token)
	}
	first := tokenOf(func() { _, _ = w.Post(session, post.ID) })
	if first == "" {
		t.Error("a read after a write has no token")
	}
	second := tokenOf(func() {
		_, _ = w.CreateComment(session, ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
	})
	for name, do := range map[string]func(){
		"read":     func() { _, _ = w.Post(session, post.ID) },
		"query":    func() { _, _ = w.Comments(session, post.ID, blog.PageRequest{First: 1}) },
		"readMany": func() { _, _ = w.Posts(session, []string{post.ID, "p_unknown"}) },
	} {
		if token := tokenOf(do); token == "" || !laterToken(token, second) {
			t.Errorf("the %s after a write with the token %q has the token %q", name, second, token)
		}
	}
	if token := tokenOf(func() { _, _ = w.User(session, ada.ID) }); token != "" {
		t.Errorf("a request to another container has the token %q", token)
	}
	if token := tokenOf(func() { _, _ = w.Post(w.Ctx(), post.ID) }); token != "" {
		t.Errorf("a request without a session has the token %q", token)
	}
	if token := tokenOf(func() { _, _ = w.Post(cosmos.WithSession(w.Ctx()), post.ID) }); token != "" {
		t.Errorf("a request of another session has the token %q", token)
	}
}

// The tokens of a success, of a failed condition and of a missing item are sent with the next
// request. Those of other answers are not: they may name a state that no replica serves yet.
func TestSessionKeepsTokensOfServedStates(t *testing.T) {
	for status, kept := range map[int]bool{
		http.StatusOK: true, http.StatusConflict: true, http.StatusPreconditionFailed: true, http.StatusNotFound: true,
		http.StatusGone: false, http.StatusTooManyRequests: false, http.StatusServiceUnavailable: false,
	} {
		checkKept(t, status, 0, kept)
	}
	checkKept(t, http.StatusNotFound, cosmos.ReadSessionNotAvailable, false)
}

func checkKept(t *testing.T, status, substatus int, kept bool) {
	t.Helper()
	w := storetest.New(t)
	post := w.AddPost(w.AddUser("Ada"))
	session := cosmos.WithSession(w.Ctx())
	w.Wire.Inject(cosmostest.First(100, cosmostest.Refuse(status, "X-Ms-Session-Token: 0:-1#900", "X-Ms-Retry-After-Ms: 1", fmt.Sprint("X-Ms-Substatus: ", substatus))))
	_, _ = w.Post(session, post.ID)
	w.Wire.Inject(nil)
	_, _ = w.Post(session, post.ID)
	want := ""
	if kept {
		want = "0:-1#900"
	}
	if token := w.Wire.Requests()[0].Header.Get(cosmos.SessionTokenHeader); token != want {
		t.Errorf("after an answer %d/%d, the next request has the token %q, want %q", status, substatus, token, want)
	}
}

// laterToken reports whether a is later than b: merging either with the other yields a.
func laterToken(a, b string) bool {
	merged, other := cosmos.SessionToken{}, cosmos.SessionToken{}
	merged.Merge(a)
	merged.Merge(b)
	other.Merge(b)
	other.Merge(a)
	return merged.String() == a && other.String() == a && a != b
}

func TestSessionTokenMerge(t *testing.T) {
	for _, test := range []struct {
		merged []string
		want   string
	}{
		{[]string{"0:-1#12"}, "0:-1#12"},
		{[]string{"0:-1#12", "0:-1#9"}, "0:-1#12"},
		{[]string{"0:-1#9", "0:-1#12"}, "0:-1#12"},
		{[]string{"0:1#100#1=20#2=5", "0:1#101#1=20#2=6"}, "0:1#101#1=20#2=6"},
		{[]string{"0:1#100", "0:2#7"}, "0:2#7"},
		{[]string{"0:2#7", "0:1#100"}, "0:2#7"},
		{[]string{"1:-1#5", "0:-1#3", "1:-1#6"}, "0:-1#3,1:-1#6"},
		{[]string{"0:-1#3,1:-1#5", "0:-1#2,1:-1#8"}, "0:-1#3,1:-1#8"},
		{[]string{"0:12", "0:9"}, "0:12"},
		{[]string{"", "nonsense", "0:-1#3", "0:what"}, "0:-1#3"},
		{nil, ""},
	} {
		token := cosmos.SessionToken{}
		for _, text := range test.merged {
			token.Merge(text)
		}
		if token.String() != test.want {
			t.Errorf("merging %q: got %q, want %q", test.merged, token, test.want)
		}
	}
}

// A claim is sent with reads of its container. If no replica has reached it, the read is sent again
// without it, and the session's own state stays. A claim is never part of what the session has
// seen.
func TestClaims(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	_, err := w.LikePost(w.Ctx(), ada, post.ID)
	w.OK(err)
	claim := func(text string) cosmos.SessionTokens {
		tokens, err := cosmos.ParseSessionTokens(text)
		w.OK(err)
		return tokens
	}

	reached := cosmos.WithSession(w.Ctx())
	cosmos.ClaimSession(reached, claim("posts=0:-1#1;users=0:-1#999"))
	w.Wire.Inject(nil)
	_, err = w.Post(reached, post.ID)
	w.OK(err)
	if sent := w.Wire.Requests()[0].Header.Get(cosmos.SessionTokenHeader); sent != "0:-1#1" || len(cosmos.FailedClaims(reached)) > 0 {
		t.Errorf("the read has the token %q, failed: %v", sent, cosmos.FailedClaims(reached))
	}
	if needed, seen := cosmos.NeededSession(reached, "users"), cosmos.SessionTokenOf(reached, "users"); needed != "0:-1#999" || seen != "" {
		t.Errorf("of users, the session needs %q and has seen %q", needed, seen)
	}

	ahead := cosmos.WithSession(w.Ctx())
	cosmos.JoinSession(ahead, "posts", "0:-1#2")
	cosmos.ClaimSession(ahead, claim("posts=0:-1#999"))
	w.Wire.Inject(nil)
	read, err := w.Post(ahead, post.ID)
	w.OK(err)
	var sent []string
	for _, request := range w.Wire.Requests() {
		sent = append(sent, request.Header.Get(cosmos.SessionTokenHeader))
	}
	if want := []string{"0:-1#999", "0:-1#999", "0:-1#2"}; !slices.Equal(sent, want) || read.LikeCount != 1 || !maps.Equal(cosmos.FailedClaims(ahead), map[string]string{"posts": post.ID}) {
		t.Errorf("the tokens were %q, want %q; the post is %+v", sent, want, read)
	}
	if seen := cosmos.SessionTokenOf(ahead, "posts"); seen != "0:-1#2" {
		t.Errorf("the session has seen %q", seen)
	}
}

// TestWrittenInSession checks that only the states of successful writes count as written.
func TestWrittenInSession(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("Ada")
	session := cosmos.WithSession(w.Ctx())
	_, err := w.CurrentUser(session, ada.ID) // a read, and a patch whose condition fails
	w.OK(err)
	if written := cosmos.WrittenInSession(session); len(written) > 0 {
		t.Errorf("before a write: %v", written)
	}
	_, err = w.CreatePost(session, ada, blog.CreatePostInput{Title: "A title", Content: "Some content."})
	w.OK(err)
	if written := cosmos.WrittenInSession(session).String(); written != "posts=0:-1#1" {
		t.Errorf("after a write: %s", written)
	}
	if seen := cosmos.SeenAfterWrites(session).String(); seen != "posts=0:-1#1;users=0:-1#2" {
		t.Errorf("seen of the containers with writes, also rejected ones: %s", seen)
	}
	if seen := cosmos.SeenInSession(session); len(seen["users"]) == 0 || len(seen["posts"]) == 0 {
		t.Errorf("seen: %v", seen)
	}
}

func TestParseSessionTokens(t *testing.T) {
	for _, text := range []string{"", "posts=0:-1#5", "a=0:1#100#1=20#2=-1,1:7;b=12:-1#0"} {
		tokens, err := cosmos.ParseSessionTokens(text)
		if err != nil || tokens.String() != text {
			t.Errorf("%q: %q, %v", text, tokens, err)
		}
	}
	for _, text := range []string{
		"posts", "=0:1", "posts=", "posts=0", "posts=0:", "posts=:1", "posts=x:1", "posts=0:x", "posts=0:1#x", "posts=0:1,", "posts=0:1;", "posts=0:-1",
		"posts=0:1\r\n", "posts=0:1 ", "posts=0:99999999999999999999",
	} {
		if tokens, err := cosmos.ParseSessionTokens(text); err == nil {
			t.Errorf("%q: %q", text, tokens)
		}
	}
}

// A range that lost writes has a lower number, also if it moved to another version.
func TestWentBack(t *testing.T) {
	for _, test := range []struct {
		later, before string
		want          bool
	}{
		{"0:-1#5", "0:-1#5", false},
		{"0:-1#5", "0:-1#4", false},
		{"0:-1#5", "0:-1#6", true},
		{"0:2#5", "0:1#6", true},
		{"0:2#7", "0:1#6", false},
		{"1:-1#5", "0:-1#6", false},
		{"0:-1#9,1:-1#5", "0:-1#8,1:-1#6", true},
		{"", "0:-1#6", false},
		{"0:-1#5", "", false},
	} {
		later, before := cosmos.SessionToken{}, cosmos.SessionToken{}
		later.Merge(test.later)
		before.Merge(test.before)
		if got := later.WentBack(before); got != test.want {
			t.Errorf("%s after %s: %t", test.later, test.before, got)
		}
	}
}

// TestIsSessionLost needs two rejections, some seconds apart, with no other answer in between: a
// session that was rejected once, and rests, may be behind a replica that lags.
func TestIsSessionLost(t *testing.T) {
	w := storetest.New(t)
	post := w.AddPost(w.AddUser("Ada"))
	synctest.Test(t, func(t *testing.T) {
		ctx := cosmos.WithSession(w.Ctx())
		isLost := func(token string) bool {
			read := cosmos.InSessionOf(w.Ctx(), ctx)
			cosmos.JoinSession(read, "posts", token)
			_, err := w.Post(read, post.ID)
			if isRejected := err != nil; isRejected != (token != "") {
				t.Fatalf("the read failed: %v", err)
			}
			return cosmos.IsSessionLost(ctx)
		}
		isLost("0:-1#999")
		time.Sleep(10 * time.Second)
		if cosmos.IsSessionLost(ctx) {
			t.Error("after one read, the session is lost")
		}
		if !isLost("0:-1#999") {
			t.Error("after another read, the session is not lost")
		}
	})
}

// TestClaimOfReadMany names a partition of the read that was rejected, also if that was of several.
func TestClaimOfReadMany(t *testing.T) {
	w := storetest.New(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	ctx := cosmos.WithSession(w.Ctx())
	cosmos.ClaimSession(ctx, cosmos.SessionTokens{"users": {"0": "-1#999"}})
	_, err := w.Users(ctx, []string{ada.ID, bob.ID})
	w.OK(err)
	if partition := cosmos.FailedClaims(ctx)["users"]; partition != ada.ID && partition != bob.ID {
		t.Errorf("the claim of the partition %q has failed", partition)
	}
}

// TestSessionOfReadTogether checks that a batch of reads is rejected for a state that nobody has
// reached, as other reads are (azure-cosmos-dotnet-v3, BatchInvalidSessionTokenAsync), and that it
// recovers from a claim of one.
func TestSessionOfReadTogether(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	comment := w.AddComment(ada, post)
	read := func(ctx context.Context) error {
		_, _, err := cosmos.ReadTogether[schema.PostItem, schema.CommentItem](ctx, w.Container(schema.Posts), post.ID, post.ID, comment.ID)
		return err
	}
	ctx := cosmos.WithSession(w.Ctx())
	cosmos.ClaimSession(ctx, cosmos.SessionTokens{"posts": {"0": "-1#999"}})
	if err := read(ctx); err != nil || !maps.Equal(cosmos.FailedClaims(ctx), map[string]string{"posts": post.ID}) {
		t.Errorf("with a claim: %v; failed: %v", err, cosmos.FailedClaims(ctx))
	}
	cosmos.JoinSession(ctx, "posts", "0:-1#999")
	if err := read(ctx); !cosmos.IsThrottled(err) {
		t.Errorf("in a session that is ahead: %v, want THROTTLED", err)
	}
}
