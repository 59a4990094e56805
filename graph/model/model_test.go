package model_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

var anyID = rapid.StringMatching(`[A-Za-z0-9_.-]{1,40}`).Filter(blog.ValidID)

func anyRef(t *rapid.T) blog.Ref {
	kind := rapid.SampledFrom([]blog.Type{blog.TypeUser, blog.TypePost, blog.TypeComment, blog.TypeLike}).Draw(t, "type")
	id := anyID.Draw(t, "id")
	if kind == blog.TypeUser || kind == blog.TypePost {
		return blog.Ref{Type: kind, PartitionKey: id, ID: id}
	}
	return blog.Ref{Type: kind, PartitionKey: anyID.Draw(t, "partition key"), ID: id}
}

func TestIDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
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
	encode := base64.RawURLEncoding.EncodeToString
	good := model.EncodeID(blog.Ref{Type: blog.TypeUser, PartitionKey: "u_a", ID: "u_a"})
	for _, id := range []any{
		"", "x", nil, 5, int64(5), json.Number("5"), good + "=", good + "\n", good[:len(good)-1],
		encode([]byte("User:u_a:u_b")), encode([]byte("user:u_a:u_a")), encode([]byte("Post:p/1:p/1")),
		encode([]byte("Post:p_1")), encode([]byte("Comment:p_1:c_1:x")), encode([]byte("Like::u_a")),
	} {
		if ref, err := model.UnmarshalID(id); blog.CodeOf(err) != blog.BadUserInput || err == nil {
			t.Errorf("UnmarshalID(%#v) = %v, %v, want BAD_USER_INPUT", id, ref, err)
		}
	}
}

// TestIDsAreCanonical checks that no two ids name one object. Client caches use ids as keys.
func TestIDsAreCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[A-Za-z0-9_-]{1,60}`).Draw(t, "text")
		if ref, err := model.UnmarshalID(id); err == nil && model.EncodeID(ref) != id {
			t.Fatalf("%q and %q both name %v", id, model.EncodeID(ref), ref)
		}
	})
}

var lists = []model.List{model.FeedList, model.UserPostsList("u_a"), model.UserPostsList("u_b"), model.CommentsList("p_a"), model.LikesList("p_a")}

func anyPosition(t *rapid.T, list model.List) blog.Position {
	date, err := blog.ParseDateTime(rapid.StringMatching(`20[0-9]{2}-0[1-9]-1[0-9]T0[0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z`).Draw(t, "date"))
	if err != nil {
		t.Fatal(err)
	}
	p := blog.Position{CreationDate: date, ID: anyID.Draw(t, "id")}
	if list == model.FeedList {
		p.Rank = rapid.IntRange(1, blog.FeedLength).Draw(t, "rank")
	}
	return p
}

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SampledFrom(lists).Draw(t, "list")
		position := anyPosition(t, list)
		cursor := list.Cursor(position)
		if back, err := list.Position(cursor); err != nil || back != position {
			t.Fatalf("%v encodes to %q, which decodes to %v, %v", position, cursor, back, err)
		}
		for _, other := range lists {
			if _, err := other.Position(cursor); other != list && blog.CodeOf(err) != blog.BadUserInput {
				t.Fatalf("%s does not reject a cursor of %s: %v", other, list, err)
			}
		}
	})
}

func TestInvalidCursors(t *testing.T) {
	date := "2026-01-02T03:04:05.000006Z"
	for _, text := range []string{
		"", "v1", "v2/feed/" + date + "/p_a/1", "v1/feed/" + date + "/p_a/0", "v1/feed/" + date + "/p_a/101",
		"v1/feed/" + date + "/p_a/-1", "v1/feed/" + date + "//1", "v1/feed/2026-01-02/p_a/1", "v1/feed/" + date + "/p_a/1/",
		"v1/feed/" + date + "/p_a/+1", "v1/feed/" + date + "/😀/1", "v1/feed/" + date + "/p a/1", "v1/feed/" + date + "/p_a/01",
		"v1/posts.u_a/" + date + "/p_a/0", "v1/feed/" + date + "/" + strings.Repeat("x", 2000) + "/1",
	} {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(text))
		if p, err := model.FeedList.Position(cursor); blog.CodeOf(err) != blog.BadUserInput {
			t.Errorf("Position of %q = %v, %v, want BAD_USER_INPUT", text, p, err)
		}
	}
	if _, err := model.FeedList.Position("not base64url!"); blog.CodeOf(err) != blog.BadUserInput {
		t.Errorf("text that is not base64url: %v, want BAD_USER_INPUT", err)
	}
}

func TestPageRequest(t *testing.T) {
	number := func(n int) *int { return &n }
	for _, c := range []struct {
		first *int
		want  int // 0 if it is rejected
	}{{nil, 20}, {number(1), 1}, {number(100), 100}, {number(0), 0}, {number(-1), 0}, {number(101), 0}} {
		got, err := model.FeedList.PageRequest(c.first, nil)
		if (err != nil) != (c.want == 0) || err == nil && got.First != c.want || err != nil && blog.CodeOf(err) != blog.BadUserInput {
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
		model.MarshalString(strings.Repeat("x", limits.MostAnswerBytes)).MarshalGQL(&response)
	}
	if response.Len() != limits.MostAnswerBytes+6 {
		t.Errorf("%d bytes were written after the limit was reached", response.Len())
	}
}
