package api_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/graph/model"
)

// refOf decodes a global id.
func refOf(t *testing.T, id string) blog.Ref {
	t.Helper()
	ref, err := model.UnmarshalID(id)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// TestNodesOfDeletedObjects covers row 26: `node` and `nodes` return what the other fields
// return, and nothing more. Existing objects are public. Deleted ones are invisible, also
// through the ids of their comments and likes.
func TestNodesOfDeletedObjects(t *testing.T) {
	s := newSite(t, false)
	deleted := refOf(t, s.deletedPost).ID
	below := func(kind blog.Type, id string) string {
		return blog.Ref{Type: kind, PartitionKey: deleted, ID: id}.String()
	}
	bob := refOf(t, s.like).ID
	hidden := map[string]string{
		"a deleted post":               s.deletedPost,
		"its comment":                  s.orphanedComment,
		"a like of it":                 below(blog.TypeLike, bob),
		"a comment under another post": below(blog.TypeComment, refOf(t, s.comment).ID),
		"a comment as a post":          "p_" + refOf(t, s.comment).ID[2:],
		"a like as a comment":          "c_" + bob[2:] + "." + s.post,
		"a comment as a like":          below(blog.TypeLike, "u_"+refOf(t, s.comment).ID[2:]),
		"a post as a comment":          "c_" + s.post[2:] + "." + s.post,
		"a post as a user":             "u_" + s.post[2:],
		"a user as a post":             "p_" + bob[2:],
	}
	for _, subject := range []string{"", "Ann", "Bob"} {
		for name, id := range hidden {
			if r := s.queryAs(subject, `query($i:ID!){node(id:$i){id __typename}}`, "i", id); len(r.Errors) > 0 || string(r.Data) != `{"node":null}` {
				t.Errorf("%s by %q: %s", name, subject, r.Body)
			}
			if r := s.queryAs(subject, `query($i:ID!){nodes(ids:[$i]){id ... on Comment{content post{title}}}}`, "i", id); string(r.Data) != `{"nodes":[null]}` {
				t.Errorf("%s in nodes by %q: %s", name, subject, r.Body)
			}
		}
		r := s.queryAs(subject, fmt.Sprintf(`{nodes(ids:["%s","%s","%s","%s"]){id}}`, s.post, s.deletedPost, s.comment, s.orphanedComment))
		if want := fmt.Sprintf(`{"nodes":[{"id":"%s"},null,{"id":"%s"},null]}`, s.post, s.comment); string(r.Data) != want {
			t.Errorf("by %q: %s, want %s", subject, r.Body, want)
		}
	}
}

// TestMutationsOfForeignObjects checks mutations with the ids of another user's objects. They
// return FORBIDDEN before their input is examined, NOT_FOUND for deleted objects, and
// UNAUTHENTICATED or USER_REQUIRED without a user.
func TestMutationsOfForeignObjects(t *testing.T) {
	s := newSite(t, false)
	mutations := []struct{ name, query, id, bob, deleted string }{
		{"updatePost", `mutation($i:ID!){updatePost(input:{id:$i,title:"Mine",version:999}){post{id}}}`, s.post, "FORBIDDEN", s.deletedPost},
		{"updatePost without changes", `mutation($i:ID!){updatePost(input:{id:$i}){post{id}}}`, s.post, "FORBIDDEN", s.deletedPost},
		{"deletePost", `mutation($i:ID!){deletePost(input:{id:$i}){post{id content}}}`, s.post, "FORBIDDEN", s.deletedPost},
		{"updateComment", `mutation($i:ID!){updateComment(input:{id:$i,content:"Mine"}){comment{id}}}`, s.comment, "FORBIDDEN", s.orphanedComment},
		{"deleteComment", `mutation($i:ID!){deleteComment(input:{id:$i}){comment{id}}}`, s.comment, "FORBIDDEN", s.orphanedComment},
	}
	before := s.queryAs("", `query($i:ID!){post(id:$i){title content version commentCount likeCount author{username} comments{nodes{id content}}}}`, "i", s.post).Body.String()
	for _, m := range mutations {
		for subject, want := range map[string]string{"": "UNAUTHENTICATED", "Carl": "USER_REQUIRED", "Bob": m.bob} {
			if r := s.queryAs(subject, m.query, "i", m.id); r.codes() != want || !r.isNull() {
				t.Errorf("%s by %q: want %s: %s", m.name, subject, want, r.Body)
			}
		}
		if r := s.queryAs("Bob", m.query, "i", m.deleted); r.codes() != "NOT_FOUND" {
			t.Errorf("%s of a deleted object: want NOT_FOUND: %s", m.name, r.Body)
		}
	}
	if r := s.queryAs("Bob", `mutation{deleteUser(input:{username:"Ann"}){user{id}}}`); r.codes() != "BAD_USER_INPUT" {
		t.Errorf("deleteUser with another username: %s", r.Body)
	}
	after := s.queryAs("", `query($i:ID!){post(id:$i){title content version commentCount likeCount author{username} comments{nodes{id content}}}}`, "i", s.post).Body.String()
	if before != after || !strings.Contains(after, "Hm") {
		t.Errorf("the post changed from %s to %s", before, after)
	}
}

// TestInjectionsAreStoredAsText covers row 27: text that looks like code is stored and returned
// unchanged.
func TestInjectionsAreStoredAsText(t *testing.T) {
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
		r := s.queryAs("", `query($i:ID!){post(id:$i){title}}`, "i", id)
		var data struct{ Post struct{ Title string } }
		if unmarshal(t, r.Data, &data); data.Post.Title != title {
			t.Errorf("%q was returned as %q", title, data.Post.Title)
		}
	}
	if r := s.queryAs("", `query($i:ID!){post(id:$i){title}}`, "i", s.post); !strings.Contains(r.Body.String(), `"Here"`) {
		t.Errorf("another post: %s", r.Body)
	}
}
