package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// refOf takes a global id apart.
func refOf(t *testing.T, id string) blog.Ref {
	t.Helper()
	ref, err := model.UnmarshalID(id)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// Row 26: `node` and `nodes` see what the fields of the schema see, and nothing more. Everything
// that is there may be read by everybody; what was deleted by nobody, also by whoever kept the
// ids of what was below it.
func TestNodesOfWhatIsGone(t *testing.T) {
	s := newSite(t, false)
	gone := refOf(t, s.gone).ID
	below := func(kind blog.Type, id string) string {
		return model.EncodeID(blog.Ref{Type: kind, PartitionKey: gone, ID: id})
	}
	bob := refOf(t, s.like).ID
	hidden := map[string]string{
		"a deleted post":                     s.gone,
		"its comment":                        s.goneComment,
		"a like of it":                       below(blog.TypeLike, bob),
		"a comment under another post":       below(blog.TypeComment, refOf(t, s.comment).ID),
		"a post that is no post":             model.EncodeID(blog.Ref{Type: blog.TypePost, PartitionKey: refOf(t, s.comment).ID, ID: refOf(t, s.comment).ID}),
		"a comment that is a like":           model.EncodeID(blog.Ref{Type: blog.TypeComment, PartitionKey: refOf(t, s.post).ID, ID: bob}),
		"a like that is a comment":           model.EncodeID(blog.Ref{Type: blog.TypeLike, PartitionKey: refOf(t, s.post).ID, ID: refOf(t, s.comment).ID}),
		"a comment that is the post":         model.EncodeID(blog.Ref{Type: blog.TypeComment, PartitionKey: refOf(t, s.post).ID, ID: refOf(t, s.post).ID}),
		"a user that is the feed":            model.EncodeID(blog.Ref{Type: blog.TypeUser, PartitionKey: "post", ID: "post"}),
		"a user that is a lease's container": model.EncodeID(blog.Ref{Type: blog.TypeUser, PartitionKey: "leases", ID: "leases"}),
	}
	for _, who := range []string{"", "Ann", "Bob"} {
		for name, id := range hidden {
			if r := s.ask(who, `query($i:ID!){node(id:$i){id __typename}}`, "i", id); len(r.Errors) > 0 || string(r.Data) != `{"node":null}` {
				t.Errorf("%s by %q: %s", name, who, r.Body)
			}
			if r := s.ask(who, `query($i:ID!){nodes(ids:[$i]){id ... on Comment{content post{title}}}}`, "i", id); string(r.Data) != `{"nodes":[null]}` {
				t.Errorf("%s in nodes by %q: %s", name, who, r.Body)
			}
		}
		r := s.ask(who, fmt.Sprintf(`{nodes(ids:["%s","%s","%s","%s"]){id}}`, s.post, s.gone, s.comment, s.goneComment))
		if want := fmt.Sprintf(`{"nodes":[{"id":"%s"},null,{"id":"%s"},null]}`, s.post, s.comment); string(r.Data) != want {
			t.Errorf("by %q: %s, want %s", who, r.Body, want)
		}
	}
}

// What belongs to somebody else is FORBIDDEN before anything of it is looked at, what is gone
// NOT_FOUND, and nobody without a user does anything. The ids are those of others.
func TestWhatIsOthers(t *testing.T) {
	s := newSite(t, false)
	mutations := []struct{ name, query, id, bob, gone string }{
		{"updatePost", `mutation($i:ID!){updatePost(input:{id:$i,title:"Mine",version:999}){post{id}}}`, s.post, "FORBIDDEN", s.gone},
		{"updatePost with nothing to change", `mutation($i:ID!){updatePost(input:{id:$i}){post{id}}}`, s.post, "FORBIDDEN", s.gone},
		{"deletePost", `mutation($i:ID!){deletePost(input:{id:$i}){post{id content}}}`, s.post, "FORBIDDEN", s.gone},
		{"updateComment", `mutation($i:ID!){updateComment(input:{id:$i,content:"Mine"}){comment{id}}}`, s.comment, "FORBIDDEN", s.goneComment},
		{"deleteComment", `mutation($i:ID!){deleteComment(input:{id:$i}){comment{id}}}`, s.comment, "FORBIDDEN", s.goneComment},
	}
	before := s.ask("", `query($i:ID!){post(id:$i){title content version commentCount likeCount author{username} comments{nodes{id content}}}}`, "i", s.post).Body.String()
	for _, m := range mutations {
		for who, want := range map[string]string{"": "UNAUTHENTICATED", "Carl": "FORBIDDEN", "Bob": m.bob} {
			if r := s.ask(who, m.query, "i", m.id); r.codes() != want || strings.Trim(string(r.Data), "nul") != "" {
				t.Errorf("%s by %q: want %s: %s", m.name, who, want, r.Body)
			}
		}
		if r := s.ask("Bob", m.query, "i", m.gone); r.codes() != "NOT_FOUND" {
			t.Errorf("%s of what is gone: %s", m.name, r.Body)
		}
	}
	if r := s.ask("Bob", `mutation{deleteUser(input:{username:"Ann"}){user{id}}}`); r.codes() != "BAD_USER_INPUT" {
		t.Errorf("deleteUser of another: %s", r.Body)
	}
	after := s.ask("", `query($i:ID!){post(id:$i){title content version commentCount likeCount author{username} comments{nodes{id content}}}}`, "i", s.post).Body.String()
	if before != after || !strings.Contains(after, "Hm") {
		t.Errorf("changed: %s to %s", before, after)
	}
}

// Row 27: what means something elsewhere is a text like any other, and comes back as it was.
func TestTextsAreTexts(t *testing.T) {
	s := newSite(t, false)
	for _, text := range injections {
		title := strings.Map(func(r rune) rune {
			if r < ' ' || r == '\u202e' {
				return '.'
			}
			return r
		}, text)
		if len(title) > 200 {
			continue
		}
		id := s.must("Ann", `mutation($t:String!,$k:String!){createPost(input:{title:$t,content:$t,idempotencyKey:$k}){post{id}}}`, "t", title, "k", text)
		r := s.ask("", `query($i:ID!){post(id:$i){title}}`, "i", id)
		var data struct{ Post struct{ Title string } }
		if unmarshal(t, r.Data, &data); data.Post.Title != title {
			t.Errorf("%q came back as %q", title, data.Post.Title)
		}
	}
	if r := s.ask("", `query($i:ID!){post(id:$i){title}}`, "i", s.post); !strings.Contains(r.Body.String(), `"Here"`) {
		t.Errorf("another post: %s", r.Body)
	}
}
