package resolvers_test

import (
	"strings"
	"testing"

	"cosmosblog/blog"
)

// The contents of the recent comments of a list of posts are read together. A comment that was
// deleted since the list was written keeps its excerpt there, and has no content.
func TestContentsOfRecentComments(t *testing.T) {
	s := newServer(t)
	ann, ben := s.user("Ann"), s.user("Ben")
	long := strings.Repeat("word ", 100)
	first, second := ann.post("First", "Content"), ann.post("Second", "Content")
	ben.comment(first, long)
	gone := ben.comment(second, "Gone")
	ann.comment(second, "Kept")
	s.project(first)
	s.project(second)

	const list = `{feed(first:2){nodes{recentComments{excerpt content author{username}}}}}`
	r := ben.ask(list)
	r.is("feed.nodes.0.recentComments.0.content", "Kept")
	r.is("feed.nodes.0.recentComments.1.content", "Gone")
	r.is("feed.nodes.1.recentComments.0.content", long)
	r.is("feed.nodes.1.recentComments.0.author.username", "Ben")
	r.is("feed.nodes.1.recentComments.0.excerpt", blog.CommentExcerpt(long))
	r.sentOperations("feed query", "posts readMany")

	ben.ask(`mutation($c:ID!){deleteComment(input:{id:$c}){comment{id}}}`, "c", gone)
	r = ben.ask(list)
	r.is("feed.nodes.0.recentComments.0.content", "Kept")
	r.is("feed.nodes.0.recentComments.1.excerpt", "Gone")
	r.is("feed.nodes.0.recentComments.1.content", nil)

	// On one post, which is read after the deletion.
	r = ben.ask(`query($p:ID!){post(id:$p){recentComments{content}}}`, "p", second)
	r.is("post.recentComments.#", 1)
	r.is("post.recentComments.0.content", "Kept")
}

// The long contents of a list of posts are read together, after the posts.
func TestLongContents(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	long := strings.Repeat("A long content. ", 1000)
	first, _, third := ann.post("First", long+"1"), ann.post("Second", "short"), ann.post("Third", long+"3")

	r := ann.ask(`{feed(first:3){nodes{content}}}`)
	r.is("feed.nodes.0.content", long+"3")
	r.is("feed.nodes.1.content", "short")
	r.is("feed.nodes.2.content", long+"1")
	r.sentOperations("feed query", "posts readMany", "posts readMany")

	// An edit of the title returns the content, which it did not change.
	r = ann.ask(`mutation($p:ID!){updatePost(input:{id:$p,title:"New"}){post{title content}}}`, "p", third)
	r.is("updatePost.post.title", "New")
	r.is("updatePost.post.content", long+"3")

	comment := ann.comment(first, "Comment")
	r = ann.ask(`query($c:ID!){node(id:$c){... on Comment{post{content}}}}`, "c", comment)
	r.is("node.post.content", long+"1")
}
