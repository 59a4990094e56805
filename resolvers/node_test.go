package resolvers_test

import (
	"slices"
	"strings"
	"testing"

	"cosmosblog/blog"
)

func TestNode(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	comment, like := ann.comment(post, "Hi"), ann.like(post)
	reader := s.anonymous()
	const query = `query($id:ID!){node(id:$id){__typename id ...on User{username creationDate} ...on Post{title content}
		...on Comment{said:content post{title}} ...on Like{user{username} post{title}}}}`
	for _, c := range []struct {
		id, typename, path string
		want               any
		requests           []string
	}{
		{ann.id, "User", "node.username", "Ann", []string{"node: users read 200"}},
		{post, "Post", "node.content", "Content", []string{"node: posts read 200"}},
		{comment, "Comment", "node.post.title", "Title", []string{"node: posts read 200", "node: posts read 200"}},
		{like, "Like", "node.user.username", "Ann", []string{"node: posts read 200", "node: posts read 200"}},
	} {
		r := reader.ask(query, "id", c.id)
		r.is("node.__typename", c.typename)
		r.is("node.id", c.id)
		r.is(c.path, c.want)
		r.sent(c.requests...)
	}
	for _, id := range []string{noUser, noPost, noComment, noLike} {
		reader.ask(query, "id", id).is("node", nil)
	}
	reader.rejected(blog.BadUserInput, query, "id", "nonsense")
}

func TestNodes(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post, other := ann.post("Title", "Content"), ann.post("Other", "Content")
	comment, like := ann.comment(post, "Hi"), bob.like(post)
	const query = `query($ids:[ID!]!){nodes(ids:$ids){id ...on Post{content viewerHasLiked author{creationDate}}}}`
	ids := []string{like, bob.id, noPost, other, comment, ann.id, noComment, post, post}
	r := bob.ask(query, "ids", ids)
	for i, id := range ids {
		if id == noPost || id == noComment {
			r.is("nodes."+string(rune('0'+i)), nil)
			continue
		}
		r.is("nodes."+string(rune('0'+i))+".id", id)
	}
	r.is("nodes.7.viewerHasLiked", true)
	if n := slices.IndexFunc(r.Extensions.Cosmos.Requests, func(q request) bool { return q.Container == "users" && q.Operation != "readMany" }); n >= 0 {
		t.Errorf("a user was read alone: %v", r.Extensions.Cosmos.Requests[n])
	}
	bob.rejected(blog.BadUserInput, query, "ids", []string{})
	bob.rejected(blog.BadUserInput, query, "ids", slices.Repeat([]string{post}, 101))
	bob.ask(query, "ids", slices.Repeat([]string{post}, 100)).is("nodes.#", 100)
	if message := bob.rejected(blog.BadUserInput, query, "ids", []string{post, "S3CRET"}); strings.Contains(message, "S3CRET") {
		t.Errorf("the message repeats the input: %s", message)
	}
}

// Nodes with the same post read it once.
func TestNodesOfOnePost(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	ids := []string{ann.like(post)}
	for range 9 {
		ids = append(ids, ann.comment(post, "Hi"))
	}
	ids = append(ids, ids...)
	r := s.anonymous().ask(`query($ids:[ID!]!){nodes(ids:$ids){id ...on Comment{post{title}} ...on Like{post{title}}}}`, "ids", ids)
	r.is("nodes.19.id", ids[19])
	r.is("nodes.19.post.title", "Title")
	if n := len(r.Extensions.Cosmos.Requests); n != 11 {
		t.Errorf("%d requests, want one for each comment and like and one for the post", n)
	}
	ann.ask(deletePost, "id", post)
	r = s.anonymous().ask(`query($ids:[ID!]!){nodes(ids:$ids){id}}`, "ids", ids)
	r.is("nodes.0", nil)
	r.is("nodes.19", nil)
}
