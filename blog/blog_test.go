package blog_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cosmosblog/blog"
	"cosmosblog/proof/testseed"
)

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		name  string
		check func(string) error
		text  string
		ok    bool
	}{
		{"title", blog.CheckTitle, "x", true},
		{"title", blog.CheckTitle, strings.Repeat("é", blog.MaxTitleLength), true},
		{"title", blog.CheckTitle, strings.Repeat("é", blog.MaxTitleLength+1), false},
		{"title", blog.CheckTitle, "", false},
		{"title", blog.CheckTitle, " \t\u00a0\u200b", false},
		{"title", blog.CheckTitle, "\xff", false},
		{"title", blog.CheckTitle, "a\x00b", false},
		{"title", blog.CheckTitle, "😀", true},
		{"content", blog.CheckContent, strings.Repeat("é", blog.MaxContentBytes/2), true},
		{"content", blog.CheckContent, strings.Repeat("é", blog.MaxContentBytes/2) + "x", false},
		{"comment", blog.CheckComment, strings.Repeat("😀", blog.MaxCommentLength), true},
		{"comment", blog.CheckComment, strings.Repeat("😀", blog.MaxCommentLength+1), false},
		{"username", blog.CheckUsername, "abc", true},
		{"username", blog.CheckUsername, "0_.-" + strings.Repeat("x", 26), true},
		{"username", blog.CheckUsername, strings.Repeat("x", 31), false},
		{"username", blog.CheckUsername, "ab", false},
		{"username", blog.CheckUsername, "_ab", false},
		{"username", blog.CheckUsername, "ünn", false},
		{"username", blog.CheckUsername, "a b", false},
		{"key", blog.CheckIdempotencyKey, strings.Repeat("k", blog.MaxIdempotencyKeyLength), true},
		{"key", blog.CheckIdempotencyKey, strings.Repeat("k", blog.MaxIdempotencyKeyLength+1), false},
		{"key", blog.CheckIdempotencyKey, " ", false},
	} {
		err := c.check(c.text)
		if (err == nil) != c.ok || err != nil && blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("%s of %d bytes (%.20q): %v", c.name, len(c.text), c.text, err)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for content, want := range map[string]string{
		"short":                                "short",
		" two \n\t words ":                     "two words",
		strings.Repeat(" ", 5000) + "far away": "far away",
	} {
		if got := blog.Excerpt(content); got != want {
			t.Errorf("%.20q: %q, want %q", content, got, want)
		}
	}
	if got := blog.Excerpt(long); !strings.HasSuffix(got, "word…") || utf8.RuneCountInString(got) > blog.ExcerptLength+1 {
		t.Errorf("%q", got)
	}
	testseed.Check(t, func(t *rapid.T) {
		content := rapid.StringN(1, 3000, -1).Draw(t, "content")
		if blog.CheckContent(content) != nil {
			return
		}
		excerpt := blog.Excerpt(content)
		if excerpt == "" || utf8.RuneCountInString(excerpt) > blog.ExcerptLength+1 || !utf8.ValidString(excerpt) {
			t.Fatalf("the excerpt of %q is %q", content, excerpt)
		}
		folded := strings.Join(strings.Fields(content), " ")
		if head, cut := strings.CutSuffix(excerpt, "…"); !strings.HasPrefix(folded, head) || !cut && excerpt != folded {
			t.Fatalf("%q is not the beginning of %q", excerpt, folded)
		}
	})
}

// part returns the part of an id after its prefix: 26 characters, most of them c.
func part(c string) string { return strings.Repeat(c, 25) + "a" }

func TestRefs(t *testing.T) {
	user, post := &blog.User{ID: "u_" + part("x")}, &blog.Post{ID: "p_" + part("y")}
	for want, r := range map[string]blog.Ref{
		"u_" + part("x"):                     user.Ref(),
		"p_" + part("y"):                     post.Ref(),
		"c_" + part("z") + ".p_" + part("y"): (&blog.Comment{ID: "c_" + part("z"), Post: post}).Ref(),
		"l_" + part("x") + ".p_" + part("y"): (&blog.Like{Post: post, User: user}).Ref(),
	} {
		if back, err := blog.ParseRef(want); err != nil || back != r || r.String() != want {
			t.Errorf("%v has the id %s, want %s, which is parsed as %v, %v", r, r, want, back, err)
		}
	}
	a, comment := part("a"), "c_"+part("a")
	for _, text := range []string{
		"", "User", "u_", "u_1", a, "x_" + a, "U_" + a, "u_" + a + "a", "u_" + a[1:], "u_" + a[1:] + "b", "u_" + a[1:] + "5", "u_" + a[1:] + ".",
		"u_" + a[1:] + "A", "u_1" + a[1:], "u_8" + a[1:], "u_/" + a[1:], "u_é" + a[2:], comment, "l_" + a, "u_" + a + ".p_" + a, "p_" + a + ".p_" + a,
		comment + ".", comment + ".p_", comment + ".u_" + a, comment + ".." + "p_" + a, comment + ".p_" + a + ".", comment + ".p_" + a + ".p_" + a,
		comment + ":p_" + a, "." + comment, ".", "..", "c_..p_.", strings.Repeat("a", 129),
	} {
		if r, err := blog.ParseRef(text); blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

func TestPackID(t *testing.T) {
	var ids blog.IDSource
	for range 100 {
		user, post, comment := blog.Account{Subject: ids.NewEditID()}.UserID(), ids.NewPostID("u", ""), ids.NewCommentID("u", "p", "")
		for id, unpack := range map[string]func(blog.PackedID) string{
			user: blog.PackedID.UserID, post: blog.PackedID.PostID, comment: blog.PackedID.CommentID,
		} {
			if packed, ok := blog.PackID(id); !ok || unpack(packed) != id {
				t.Errorf("%s is packed to %x, %v, and unpacked to %s", id, packed, ok, unpack(packed))
			}
		}
	}
	for _, id := range []string{"", "p", "p_", "p_1", "p_" + part("a")[1:] + "b"} {
		if packed, ok := blog.PackID(id); ok {
			t.Errorf("%q is packed to %x", id, packed)
		}
	}
}

func TestIDs(t *testing.T) {
	anna := blog.Account{Issuer: "i", Subject: "anna@example.org"}
	if id := anna.UserID(); id != anna.UserID() || strings.Contains(id, "anna") || len(id) != 28 {
		t.Errorf("user id %q", id)
	}
	if (blog.Account{Issuer: "ia", Subject: "b"}).UserID() == (blog.Account{Issuer: "i", Subject: "ab"}).UserID() {
		t.Error("the id does not separate issuer and subject")
	}
	var ids blog.IDSource
	seen := map[string]string{}
	for name, id := range map[string]string{
		"new": ids.NewPostID("u", ""), "another new": ids.NewPostID("u", ""), "keyed": ids.NewPostID("u", "k"),
		"another user's": ids.NewPostID("v", "k"), "another key": ids.NewPostID("u", "l"),
		"a comment": ids.NewCommentID("u", "p", "k"), "another post's": ids.NewCommentID("u", "q", "k"),
	} {
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s have the id %s", name, other, id)
		}
		seen[id] = name
	}
	if ids.NewPostID("u", "k") != ids.NewPostID("u", "k") {
		t.Error("the same key returned another id")
	}
}

func TestClockStrictlyIncreases(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.FixedZone("x", 3600))
	clock := &blog.Clock{Now: func() time.Time { return now }}
	if first := clock.Next(); first != "2026-01-02T02:04:05.678901Z" {
		t.Errorf("first %s", first)
	}
	var mu sync.Mutex
	dates := map[blog.DateTime]bool{}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			last := blog.DateTime("")
			for range 100 {
				d := clock.Next()
				if d <= last {
					t.Errorf("%s after %s", d, last)
				}
				last = d
				mu.Lock()
				dates[d] = true
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	if len(dates) != 800 {
		t.Errorf("%d different dates of 800", len(dates))
	}
}

// TestClockStepsBack checks that a jump ahead of the source ends with the jump, and that dates
// increase if the source steps back a little.
func TestClockStepsBack(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := &blog.Clock{Now: func() time.Time { return now }}
	clock.Next()
	now = now.AddDate(1, 0, 0)
	if ahead := clock.Next(); ahead != "2027-01-02T03:04:05.000000Z" {
		t.Errorf("ahead: %s", ahead)
	}
	now = now.AddDate(-1, 0, 0).Add(time.Minute)
	if after := clock.Next(); after != "2026-01-02T03:05:05.000000Z" {
		t.Errorf("after the jump: %s", after)
	}
	now = now.Add(-2 * time.Second)
	if small := clock.Next(); small != "2026-01-02T03:05:05.000001Z" {
		t.Errorf("after a small step back: %s", small)
	}
}

func TestDateTimes(t *testing.T) {
	for text, ok := range map[string]bool{
		"2026-01-02T03:04:05.000000Z": true, "2026-01-02T03:04:05Z": false, "2026-01-02T03:04:05.000000+00:00": false,
		"2026-13-02T03:04:05.000000Z": false, "": false, "2026-02-30T03:04:05.000000Z": false,
	} {
		d, err := blog.ParseDateTime(text)
		if (err == nil) != ok || ok && blog.NewDateTime(d.Time()) != d {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}

func TestCodes(t *testing.T) {
	cause := errors.New("cause")
	known := &blog.Error{Code: blog.Throttled, Message: "Later.", Err: cause}
	if code := blog.CodeOf(fmt.Errorf("around: %w", known)); code != blog.Throttled || !errors.Is(known, cause) {
		t.Errorf("code %s", code)
	}
	if code := blog.CodeOf(cause); code != blog.Internal {
		t.Errorf("code %s of an error that is not an Error", code)
	}
}

// TestPageText checks that a text is found by its whole key, that the last one replaces others, and
// that a text beyond the room is not kept.
func TestPageText(t *testing.T) {
	text := blog.NewPageText(4)
	key := blog.TextKey{Selection: 1, Rank: 1, Total: 7}
	text.Keep(key, []byte("text"))
	for _, other := range []blog.TextKey{
		{Selection: 2, Rank: 1, Total: 7},
		{Selection: 1, Rank: 1, Total: 8},
		{Selection: 1, Rank: 2, Total: 7},
		{Selection: 1, Rank: 1, Total: 7, After: true},
		{Selection: 1, Rank: 1, Total: 7, HasNextPage: true},
	} {
		if got := text.Get(other); got != nil {
			t.Errorf("%+v has the text %q of %+v", other, got, key)
		}
	}
	longer := blog.TextKey{Selection: 3}
	text.Keep(longer, []byte("longer"))
	if text.Get(longer) != nil || string(text.Get(key)) != "text" {
		t.Error("a text beyond the room was kept")
	}
	text.Keep(longer, []byte("next"))
	if string(text.Get(longer)) != "next" || text.Get(key) != nil {
		t.Error("the last text did not replace the one before")
	}
}
