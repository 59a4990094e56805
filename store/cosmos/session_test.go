package cosmos_test

import (
	"fmt"
	"net/http"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/blog"
	"cosmosblog/internal/proof/storetest"
	"cosmosblog/store/cosmos"
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
		_, _ = w.CreateComment(session, ada, blog.CommentInput{PostID: post.ID, Content: "A comment."})
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
