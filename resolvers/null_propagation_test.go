package resolvers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"cosmosblog/blog"
)

// A mutation that fails is null. The other mutations of the operation keep their results.
func TestFailedMutationLeavesTheOthers(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	r := ann.send(`mutation{
		a: createPost(input:{title:" ",content:"Content"}){post{title}}
		b: createPost(input:{title:"Good",content:"Content"}){post{title}}
	}`)
	if len(r.Errors) != 1 || fmt.Sprint(r.Errors[0].Path) != "[a]" || r.Errors[0].Extensions["code"] != string(blog.BadUserInput) {
		t.Errorf("got %v", r.Errors)
	}
	r.is("a", nil)
	r.is("b.post.title", "Good")
}

// If a client disconnects during the second of three mutations, that one is completed, and the
// third is not executed.
func TestDisconnectDuringMutation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	executions, seeded := 0, false
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if seeded && strings.Contains(r.URL.Path, "/sprocs/") {
				if executions++; executions == 2 {
					cancel()
				}
			}
			engine.ServeHTTP(w, r)
		})
	})
	skipUnderFaults(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	s.ctx, seeded = ctx, true
	r := ann.send(`mutation($p:ID!){a:likePost(input:{postId:$p}){post{likeCount}} b:unlikePost(input:{postId:$p}){post{likeCount}} c:likePost(input:{postId:$p}){post{likeCount}}}`, "p", post)
	if len(r.Errors) != 1 || fmt.Sprint(r.Errors[0].Path) != "[c]" {
		t.Errorf("got %v", r.Errors)
	}
	r.is("a.post.likeCount", 1)
	r.is("b.post.likeCount", 0)
	r.is("c", nil)
	s.ctx = nil
	if n := ann.ask(`query($p:ID!){post(id:$p){likeCount}}`, "p", post).number("post.likeCount"); n != 0 || executions != 2 {
		t.Errorf("%v likes after %d executions", n, executions)
	}
}

// The author of a post, a comment or a like may be gone until a projector has deleted these. No
// field of the author fails then.
func TestGoneAuthor(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	ann.comment(post, "Hi")
	ann.like(post)
	bob.post("Another", "Content")
	ann.ask(deleteUser, "n", "Ann")
	r := bob.ask(`{viewer{username} feed(first:2){nodes{title author{...A} comments(first:1){nodes{author{...A}}} likes(first:1){nodes{user{...A}}}}}}
		fragment A on User{username creationDate postCount posts(first:1){nodes{id}}}`)
	r.is("viewer.username", "Bob")
	r.is("feed.nodes.0.author.postCount", 1)
	for _, path := range []string{"feed.nodes.1.author", "feed.nodes.1.comments.nodes.0.author", "feed.nodes.1.likes.nodes.0.user"} {
		r.is(path+".username", "Ann")
		r.is(path+".creationDate", nil)
		r.is(path+".postCount", 0)
		r.is(path+".posts.nodes.#", 0)
	}
}

// A malformed id in `nodes` nulls its own element.
func TestMalformedIDInNodes(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	for _, r := range []reply{
		ann.send(`query($ids:[ID!]!){nodes(ids:$ids){id}}`, "ids", []string{post, "S3CRET", ann.id}),
		ann.send(fmt.Sprintf(`{nodes(ids:[%q,"S3CRET",%q]){id}}`, post, ann.id)),
	} {
		if len(r.Errors) != 1 || fmt.Sprint(r.Errors[0].Path) != "[nodes 1]" || r.Errors[0].Extensions["code"] != string(blog.BadUserInput) ||
			strings.Contains(r.Errors[0].Message, "S3CRET") {
			t.Errorf("got %v", r.Errors)
		}
		r.is("nodes.0.id", post)
		r.is("nodes.1", nil)
		r.is("nodes.2.id", ann.id)
	}
}

// A list with an invalid argument is null. The fields beside it keep their values.
func TestInvalidListIsNull(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	ann.post("Title", "Content")
	r := ann.send(`{viewer{username} feed{nodes{title comments(first:101){nodes{id}}}} other:feed(first:-1){nodes{id}}}`)
	if len(r.Errors) != 2 {
		t.Errorf("got %v", r.Errors)
	}
	r.is("viewer.username", "Ann")
	r.is("feed.nodes.0.title", "Title")
	r.is("feed.nodes.0.comments", nil)
	r.is("other", nil)
}

// Every field that sends a request of its own is null if its request fails. The fields beside it
// keep their values.
func TestFailedReadsStayLocal(t *testing.T) {
	skipUnderFaults(t)
	var broken string // the path of a container whose requests fail
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		failing := &failingEngine{engine: engine}
		failing.status.Store(http.StatusForbidden)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if broken != "" && strings.Contains(r.URL.Path, broken) {
				failing.ServeHTTP(w, r)
				return
			}
			engine.ServeHTTP(w, r)
		})
	})
	ann := s.user("Ann")
	ann.comment(ann.post("Title", "Content"), "Hi")
	check := func(container, query, parent, intact string, fields ...string) {
		t.Helper()
		broken = "/colls/" + container + "/"
		r := ann.send(query)
		broken = ""
		r.is(parent+"."+intact, map[string]any{"title": "Title", "username": "Ann"}[intact])
		for _, field := range fields {
			r.is(parent+"."+field, nil)
		}
		if len(r.Errors) != len(fields) {
			t.Errorf("got %v", r.Errors)
		}
	}
	check("posts", `{feed{nodes{title content viewerHasLiked comments{nodes{id}} likes{nodes{id}}}}}`,
		"feed.nodes.0", "title", "content", "viewerHasLiked", "comments", "likes")
	check("users", `{feed{nodes{author{username creationDate postCount posts{nodes{id}}}}}}`,
		"feed.nodes.0.author", "username", "creationDate", "postCount", "posts")
}
