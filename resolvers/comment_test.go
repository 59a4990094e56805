package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/blog"
)

const (
	createComment = `mutation($p:ID!,$c:String!,$k:String){createComment(input:{postId:$p,content:$c,idempotencyKey:$k}){
		comment{id content creationDate author{id username} post{id title commentCount}} post{id commentCount}}}`
	deleteComment = `mutation($id:ID!){deleteComment(input:{id:$id}){comment{id content} post{id title commentCount}}}`
	readComments  = `query($p:ID!,$n:Int,$a:String){post(id:$p){commentCount comments(first:$n,after:$a){
		nodes{id content author{id username} post{id title}} edges{cursor} pageInfo{hasNextPage hasPreviousPage endCursor}}}}`
)

func TestCreateComment(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	r := bob.ask(createComment, "p", post, "c", "Hi")
	r.is("createComment.comment.content", "Hi")
	r.is("createComment.comment.author.id", bob.id)
	r.is("createComment.comment.author.username", "Bob")
	r.is("createComment.comment.post.title", "Title")
	r.is("createComment.post.commentCount", 1)
	r.sent("createComment: users read 200", "createComment: posts execute 200")
	requests := r.Extensions.Cosmos.Requests
	for i, key := range map[int]string{0: rawID(t, bob.id), len(requests) - 1: rawID(t, post)} {
		if got := requests[i].PartitionKey; got != key {
			t.Errorf("request %d is in partition %v, want %s", i, got, key)
		}
	}

	bob.rejected(blog.NotFound, createComment, "p", noPost, "c", "Hi")
	bob.rejected(blog.BadUserInput, createComment, "p", bob.id, "c", "Hi")
	bob.rejected(blog.BadUserInput, createComment, "p", post, "c", "  ")
	bob.rejected(blog.BadUserInput, createComment, "p", post, "c", strings.Repeat("ä", 10_001))
	bob.rejected(blog.BadUserInput, createComment, "p", post, "c", "Hi", "k", " ")
	s.anonymous().rejected(blog.Unauthenticated, createComment, "p", post, "c", "Hi")
	s.account("carl").rejected(blog.UserRequired, createComment, "p", post, "c", "Hi")
}

func TestCreateCommentWithKey(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post, other := ann.post("Title", "Content"), ann.post("Title", "Content")
	r := ann.ask(createComment, "p", post, "c", "Hi", "k", "key")
	again := ann.ask(createComment, "p", post, "c", "Hi", "k", "key")
	again.is("createComment.comment.id", r.at("createComment.comment.id"))
	again.is("createComment.post.commentCount", 1)
	ann.rejected(blog.IdempotencyKeyReused, createComment, "p", post, "c", "Ho", "k", "key")
	ann.ask(createComment, "p", other, "c", "Hi", "k", "key").is("createComment.post.commentCount", 1)

	ann.ask(deleteComment, "id", r.at("createComment.comment.id"))
	ann.rejected(blog.NotFound, createComment, "p", post, "c", "Hi", "k", "key")
}

func TestDeleteComment(t *testing.T) {
	s := newServer(t)
	ann, bob, carl := s.user("Ann"), s.user("Bob"), s.user("Carl")
	post := ann.post("Title", "Content")
	first, second := bob.comment(post, "One"), bob.comment(post, "Two")
	carl.rejected(blog.Forbidden, deleteComment, "id", first)
	r := bob.ask(deleteComment, "id", first) // by the comment's author
	r.is("deleteComment.comment.id", first)
	r.is("deleteComment.comment.content", "One")
	r.is("deleteComment.post.commentCount", 1)
	r.is("deleteComment.post.title", "Title")
	r.sent("deleteComment: users read 200", "deleteComment: posts execute 200")
	ann.ask(deleteComment, "id", second).is("deleteComment.post.commentCount", 0) // by the post's author
	// A retried deletion cannot tell whether an earlier attempt deleted the comment.
	if !faultProfiles[*faultsFlag].repeatsWrites() {
		bob.rejected(blog.NotFound, deleteComment, "id", first)
	}
	bob.rejected(blog.NotFound, deleteComment, "id", noComment)
	bob.rejected(blog.BadUserInput, deleteComment, "id", post)
	s.anonymous().rejected(blog.Unauthenticated, deleteComment, "id", first)
	s.anonymous().ask(readComments, "p", post).is("post.comments.nodes.#", 0)
}

func TestComments(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	for i := range 5 {
		ann.comment(post, fmt.Sprint("Comment ", i))
	}
	r := s.anonymous().ask(readComments, "p", post, "n", 2)
	r.is("post.commentCount", 5)
	r.is("post.comments.nodes.0.content", "Comment 0")
	r.is("post.comments.nodes.1.content", "Comment 1")
	r.is("post.comments.nodes.1.author.username", "Ann")
	r.is("post.comments.nodes.1.post.title", "Title")
	r.is("post.comments.pageInfo.hasNextPage", true)
	r.sent("post: posts read 200", "post.comments: posts query 200")

	r = s.anonymous().ask(readComments, "p", post, "n", 3, "a", r.text("post.comments.pageInfo.endCursor"))
	r.is("post.comments.nodes.0.content", "Comment 2")
	r.is("post.comments.nodes.2.content", "Comment 4")
	r.is("post.comments.pageInfo.hasNextPage", false)
	r.is("post.comments.pageInfo.hasPreviousPage", true)

	r = s.anonymous().ask(readComments, "p", post, "a", r.text("post.comments.pageInfo.endCursor"))
	r.is("post.comments.nodes.#", 0)
	r.is("post.comments.pageInfo.endCursor", nil)
	s.anonymous().rejected(blog.BadUserInput, readComments, "p", post, "a", "nonsense")
}
