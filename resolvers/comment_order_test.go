package resolvers_test

import (
	"fmt"
	"testing"
)

const orderedComments = `query($p:ID!,$n:Int,$a:String,$o:CommentOrder){post(id:$p){comments(first:$n,after:$a,order:$o){
	totalCount nodes{content} edges{cursor} pageInfo{hasNextPage hasPreviousPage endCursor}}}}`

// contents checks the contents of a page of comments.
func (r reply) contents(want ...string) {
	r.t.Helper()
	r.is("post.comments.nodes.#", len(want))
	for i, content := range want {
		r.is(fmt.Sprintf("post.comments.nodes.%d.content", i), content)
	}
}

// Comments are listed in both orders, each page with one request.
func TestCommentOrder(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	for i := range 5 {
		ann.comment(post, fmt.Sprint(i))
	}
	page := func(n int, after any, order any) reply {
		t.Helper()
		return s.anonymous().ask(orderedComments, "p", post, "n", n, "a", after, "o", order)
	}
	r := page(2, nil, "NEWEST_FIRST")
	r.contents("4", "3")
	r.is("post.comments.totalCount", 5)
	r.is("post.comments.pageInfo.hasNextPage", true)
	r.sent("post: posts read 200", "post.comments: posts query 200")
	r = page(2, r.text("post.comments.pageInfo.endCursor"), "NEWEST_FIRST")
	r.contents("2", "1")
	r.is("post.comments.pageInfo.hasPreviousPage", true)
	r = page(2, r.text("post.comments.pageInfo.endCursor"), "NEWEST_FIRST")
	r.contents("0")
	r.is("post.comments.pageInfo.hasNextPage", false)
	page(2, nil, "OLDEST_FIRST").contents("0", "1")
	page(2, nil, nil).contents("0", "1")

	r = s.anonymous().ask(`query($p:ID!){post(id:$p){a:comments(first:1){nodes{content}} b:comments(first:1,order:NEWEST_FIRST){nodes{content}}}}`, "p", post)
	r.is("post.a.nodes.0.content", "0")
	r.is("post.b.nodes.0.content", "4")
}

// A cursor of one order is valid in the other. The page starts after that comment, in the order of
// the request.
func TestCursorOfTheOtherOrder(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	for i := range 4 {
		ann.comment(post, fmt.Sprint(i))
	}
	read := func(n int, after any, order string) reply {
		t.Helper()
		return s.anonymous().ask(orderedComments, "p", post, "n", n, "a", after, "o", order)
	}
	newest := read(2, nil, "NEWEST_FIRST") // 3, 2
	oldest := read(3, nil, "OLDEST_FIRST") // 0, 1, 2
	if a, b := newest.text("post.comments.edges.1.cursor"), oldest.text("post.comments.edges.2.cursor"); a != b {
		t.Errorf("one comment has the cursors %s and %s", a, b)
	}
	read(5, newest.text("post.comments.pageInfo.endCursor"), "OLDEST_FIRST").contents("3")
	read(5, oldest.text("post.comments.pageInfo.endCursor"), "NEWEST_FIRST").contents("1", "0")
}

// totalCount is the counter of the post itself, without a further request. In a list of posts, it
// is newer than the copy's counter.
func TestTotalCount(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	for range 3 {
		ann.comment(post, "Hi")
	}
	ann.like(post)
	bob.like(post)
	const query = `query($p:ID!){post(id:$p){comments(first:1){totalCount nodes{id}} likes(first:1){totalCount nodes{id}}}}`
	r := s.anonymous().ask(query, "p", post)
	r.is("post.comments.totalCount", 3)
	r.is("post.likes.totalCount", 2)
	if n := len(r.Extensions.Cosmos.Requests); n != 3 {
		t.Errorf("%d requests, want the post, the comments and the likes", n)
	}
	r = s.anonymous().ask(`{feed(first:5){nodes{commentCount comments(first:1){totalCount}}}}`)
	r.is("feed.nodes.0.commentCount", 0) // of the copy: nothing projected the comments
	r.is("feed.nodes.0.comments.totalCount", 3)

	r = bob.ask(`mutation($p:ID!){unlikePost(input:{postId:$p}){post{likeCount likes(first:5){totalCount nodes{id}}}}}`, "p", post)
	r.is("unlikePost.post.likes.totalCount", 1)
	r.is("unlikePost.post.likes.nodes.#", 1)
	r = ann.ask(`mutation($p:ID!){deletePost(input:{id:$p}){post{comments{totalCount} likes{totalCount}}}}`, "p", post)
	r.is("deletePost.post.comments.totalCount", 0)
	r.is("deletePost.post.likes.totalCount", 0)
}

// unlikePost returns the id of the like, so that a client can remove it from its cache. A retry
// returns the same id.
func TestUnlikedLikeID(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	like := ann.like(post)
	for range 2 {
		r := ann.ask(`mutation($p:ID!){unlikePost(input:{postId:$p}){unlikedLikeId post{likeCount}}}`, "p", post)
		r.is("unlikePost.unlikedLikeId", like)
		r.is("unlikePost.post.likeCount", 0)
	}
	ann.ask(`query($l:ID!){node(id:$l){id}}`, "l", like).is("node", nil)
}
