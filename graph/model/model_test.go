package model_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"pgregory.net/rapid"

	"cosmosblog/blog"
	"cosmosblog/graph/model"
	"cosmosblog/proof/testseed"
)

// anyID returns an id with a prefix.
func anyID(t *rapid.T, prefix string) string {
	part := rapid.StringMatching(`[a-z2-7]{25}[aeimquy4]`).Draw(t, prefix)
	return prefix + part
}

func anyRef(t *rapid.T) blog.Ref {
	user, post := anyID(t, "u_"), anyID(t, "p_")
	return rapid.SampledFrom([]blog.Ref{
		{Type: blog.TypeUser, PartitionKey: user, ID: user},
		{Type: blog.TypePost, PartitionKey: post, ID: post},
		{Type: blog.TypeComment, PartitionKey: post, ID: anyID(t, "c_")},
		{Type: blog.TypeLike, PartitionKey: post, ID: user},
	}).Draw(t, "ref")
}

func TestIDRoundTrip(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		ref := anyRef(t)
		var text strings.Builder
		model.MarshalID(ref).MarshalGQL(&text)
		var id string
		if err := json.Unmarshal([]byte(text.String()), &id); err != nil {
			t.Fatalf("%q is not a JSON string: %v", text.String(), err)
		}
		if back, err := model.UnmarshalID(id); err != nil || back != ref {
			t.Fatalf("%v encodes to %q, which decodes to %v, %v", ref, id, back, err)
		}
	})
}

func TestInvalidIDs(t *testing.T) {
	good := blog.Account{Subject: "a"}.UserID()
	for _, id := range []any{"", "x", nil, 5, int64(5), json.Number("5"), []byte(good), good + "=", good + "\n", good[:len(good)-1]} {
		if ref, err := model.UnmarshalID(id); blog.CodeOf(err) != blog.BadUserInput || err == nil {
			t.Errorf("UnmarshalID(%#v) = %v, %v, want BAD_USER_INPUT", id, ref, err)
		}
	}
}

// TestIDsAreCanonical checks that no two ids name one object. Client caches use ids as keys.
func TestIDsAreCanonical(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[uplcx]_[a-z2-7]{24,26}[a-z2-9](\.[pu]_[a-z2-7]{24,26}[a-z2-9])?`).Draw(t, "text")
		if ref, err := model.UnmarshalID(id); err == nil && ref.String() != id {
			t.Fatalf("%q and %q both name %v", id, ref.String(), ref)
		}
	})
}

// lists are lists, with the prefixes of their elements' stored ids.
var lists = map[string]struct {
	model.List
	prefix string
}{
	"feed":                {model.FeedList, "p_"},
	"posts of a user":     {model.UserPostsList("u_a"), "p_"},
	"posts of another":    {model.UserPostsList("u_b"), "p_"},
	"comments":            {model.CommentsList("p_a"), "c_"},
	"comments of another": {model.CommentsList("p_b"), "c_"},
	"likes":               {model.LikesList("p_a"), "u_"},
}

var listNames = slices.Sorted(maps.Keys(lists))

func anyPosition(t *rapid.T, name string) blog.Position {
	date, err := blog.ParseDateTime(rapid.StringMatching(`(19[789]|20[0-9])[0-9]-0[1-9]-1[0-9]T0[0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z`).Draw(t, "date"))
	if err != nil {
		t.Fatal(err)
	}
	p := blog.Position{CreationDate: date, ID: anyID(t, lists[name].prefix)}
	if name == "feed" {
		p.Rank = rapid.IntRange(1, blog.FeedLength).Draw(t, "rank")
	}
	return p
}

func TestCursorRoundTrip(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(listNames).Draw(t, "list")
		position, length := anyPosition(t, name), 36
		if name == "feed" {
			length = 32
		}
		cursor := lists[name].Cursor(position)
		if back, err := lists[name].Position(cursor); err != nil || back != position || len(cursor) != length {
			t.Fatalf("%v encodes to %q, which decodes to %v, %v", position, cursor, back, err)
		}
		for other, list := range lists {
			if _, err := list.Position(cursor); other != name && (blog.CodeOf(err) != blog.BadUserInput || !strings.Contains(err.Error(), "another list")) {
				t.Fatalf("%s does not reject a cursor of %s: %v", other, name, err)
			}
		}
	})
}

// TestFormerCursors checks that cursors of a former form are rejected, and not misread.
func TestFormerCursors(t *testing.T) {
	for list, cursor := range map[string]string{
		"posts of a user": "IyOveyZ5owBgLnQAAAAAAAAAAAAAAAAAAAAB", "feed": "EyOveyZ5owcAAAAAAAAAAAAAAAAAAAAB",
	} {
		if got, err := lists[list].Position(cursor); blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("%s: %v, %v", list, got, err)
		}
	}
}

// TestCursorsAreCanonical checks that a list accepts only cursors that it returns.
func TestCursorsAreCanonical(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(listNames).Draw(t, "list")
		cursor := []byte(lists[name].Cursor(anyPosition(t, name)))
		cursor[rapid.IntRange(0, len(cursor)-1).Draw(t, "index")] = rapid.SampledFrom([]byte("AZaz09-_=+/. \n")).Draw(t, "byte")
		if position, err := lists[name].Position(string(cursor)); err == nil && lists[name].Cursor(position) != string(cursor) {
			t.Fatalf("%q is accepted as %v", cursor, position)
		}
	})
}

func TestInvalidCursors(t *testing.T) {
	bytesOf := func(list model.List, rank int) []byte {
		cursor := list.Cursor(blog.Position{CreationDate: "2026-01-02T03:04:05.000006Z", ID: blog.IDSource{}.NewPostID("u", "k"), Rank: rank})
		bytes, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	feed, posts := bytesOf(model.FeedList, 1), bytesOf(lists["posts of a user"].List, 0)
	otherKind := slices.Clone(feed)
	otherKind[0] = 0xf0 | feed[0]
	for name, bytes := range map[string][]byte{
		"nothing": {}, "a date": feed[:8], "a short id": feed[:23], "a long id": append(slices.Clone(feed), 0), "no rank": bytesOf(model.FeedList, 0),
		"a high rank": bytesOf(model.FeedList, blog.FeedLength+1), "the highest rank": bytesOf(model.FeedList, 255), "an unknown kind": otherKind,
		"a parent in the feed": slices.Insert(slices.Clone(feed), 8, 0, 0, 0), "the older form": []byte("v1/feed/2026-01-02T03:04:05.000006Z/p_a/1"),
	} {
		if p, err := model.FeedList.Position(base64.RawURLEncoding.EncodeToString(bytes)); blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("%s: %v, %v, want BAD_USER_INPUT", name, p, err)
		}
	}
	for name, bytes := range map[string][]byte{
		"no parent": slices.Delete(slices.Clone(posts), 8, 11), "a rank": bytesOf(lists["posts of a user"].List, 1), "another parent": slices.Replace(slices.Clone(posts), 8, 11, 1, 2, 3),
	} {
		if p, err := lists["posts of a user"].Position(base64.RawURLEncoding.EncodeToString(bytes)); blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("%s: %v, %v, want BAD_USER_INPUT", name, p, err)
		}
	}
	for _, cursor := range []string{"not base64url!", strings.Repeat("A", 5000), base64.URLEncoding.EncodeToString(append(feed, 0)), "\n" + base64.RawURLEncoding.EncodeToString(feed)} {
		if _, err := model.FeedList.Position(cursor); blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("%.100q: %v, want BAD_USER_INPUT", cursor, err)
		}
	}
}

func TestPageRequest(t *testing.T) {
	number := func(n int) *int { return &n }
	for _, c := range []struct {
		first *int
		want  int // -1 if it is rejected
	}{{nil, 20}, {number(0), 0}, {number(1), 1}, {number(100), 100}, {number(-1), -1}, {number(101), -1}} {
		got, err := model.FeedList.PageRequest(c.first, nil)
		if (err != nil) != (c.want < 0) || err == nil && got.First != c.want || err != nil && blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("first %v: got %v, %v, want %d", c.first, got, err, c.want)
		}
	}
}

func TestConnection(t *testing.T) {
	date := blog.DateTime("2026-01-02T03:04:05.000006Z")
	posts := []*blog.Post{{ID: "p_a"}, {ID: "p_b"}}
	c := model.PostConnection{List: model.FeedList, After: true, Page: blog.Page[*blog.Post]{
		Items:       posts,
		Positions:   []blog.Position{{CreationDate: date, ID: "p_a", Rank: 1}, {CreationDate: date, ID: "p_b", Rank: 2}},
		HasNextPage: true,
	}}
	info, edges := c.PageInfo(), c.Edges()
	if !info.HasNextPage || !info.HasPreviousPage || *info.StartCursor != edges[0].Cursor() || *info.EndCursor != edges[1].Cursor() {
		t.Errorf("page info %+v", info)
	}
	if edges[1].Node != posts[1] || c.Nodes()[1] != posts[1] {
		t.Errorf("edges %v, nodes %v", edges, c.Nodes())
	}
	if info := (model.PostConnection{}).PageInfo(); info.StartCursor != nil || info.EndCursor != nil || info.HasNextPage {
		t.Errorf("page info of an empty page: %+v", info)
	}
}

func TestUnmarshalInt(t *testing.T) {
	for _, v := range []any{int64(1 << 31), int64(-1<<31 - 1), json.Number("99999999999999999999"), json.Number("1.5"), "1", 1.0, true} {
		if n, err := model.UnmarshalInt(v); blog.CodeOf(err) != blog.BadUserInput || err == nil {
			t.Errorf("UnmarshalInt(%#v) = %d, want BAD_USER_INPUT", v, n)
		}
	}
	for _, v := range []any{int64(1<<31 - 1), json.Number("2147483647")} {
		if n, err := model.UnmarshalInt(v); err != nil || n != 1<<31-1 {
			t.Errorf("UnmarshalInt(%#v) = %d, %v, want %d", v, n, err, 1<<31-1)
		}
	}
}

func TestUnmarshalAndMarshalString(t *testing.T) {
	for _, v := range []any{int64(5), json.Number("5"), 1.0, true, nil} {
		if s, err := model.UnmarshalString(v); blog.CodeOf(err) != blog.BadUserInput || err == nil {
			t.Errorf("UnmarshalString(%#v) = %q, want BAD_USER_INPUT", v, s)
		}
	}
	if s, err := model.UnmarshalString("5"); s != "5" || err != nil {
		t.Errorf("UnmarshalString = %q, %v, want 5", s, err)
	}
	var response bytes.Buffer
	for range 3 {
		model.MarshalString(strings.Repeat("x", blog.MaxAnswerBytes)).MarshalGQL(&response)
	}
	if response.Len() != blog.MaxAnswerBytes+6 {
		t.Errorf("%d bytes were written after the limit was reached", response.Len())
	}
}

// TestAppendScalars compares the functions for plain fields with the marshalers.
func TestAppendScalars(t *testing.T) {
	equal := func(t *rapid.T, appended []byte, marshaler graphql.Marshaler) {
		var written bytes.Buffer
		marshaler.MarshalGQL(&written)
		if string(appended) != "before"+written.String() {
			t.Fatalf("appended %q, and the marshaler writes %q", appended, &written)
		}
	}
	testseed.Check(t, func(t *rapid.T) {
		before := []byte("before")
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("\"\\\x00\x1f\t\r\n\x7f\u2028é")), 0, 8, -1),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		equal(t, model.AppendString(before, text), graphql.MarshalString(text))
		equal(t, model.AppendString(before, text), model.MarshalString(text))
		number := rapid.Int().Draw(t, "number")
		equal(t, model.AppendInt(before, number), model.MarshalInt(number))
		ref := anyRef(t)
		equal(t, model.AppendGlobalID(before, ref), model.MarshalGlobalID(ref))
		date := rapid.SampledFrom([]blog.DateTime{"", "2026-01-31T12:00:00.000000Z"}).Draw(t, "date")
		equal(t, model.AppendDateTime(before, date), model.MarshalDateTime(date))
	})
}
