package resolvers_test

import (
	"strings"
	"testing"

	"cosmosblog/blog"
)

const updateComment = `mutation($id:ID!,$c:String!){updateComment(input:{id:$id,content:$c}){
	comment{id content creationDate updatedDate author{username} post{title}} post{id commentCount updatedDate}}}`

func TestUpdateComment(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	comment := bob.comment(post, "One")
	const read = `query($id:ID!){node(id:$id){... on Comment{content updatedDate creationDate}}}`
	before := s.anonymous().ask(read, "id", comment)
	before.is("node.updatedDate", nil)

	bob.ask(updateComment, "id", comment, "c", "One").is("updateComment.comment.updatedDate", nil) // an unchanged text is not an edit
	r := bob.ask(updateComment, "id", comment, "c", "Two")
	r.is("updateComment.comment.id", comment)
	r.is("updateComment.comment.content", "Two")
	r.is("updateComment.comment.author.username", "Bob")
	r.is("updateComment.comment.post.title", "Title")
	r.is("updateComment.comment.creationDate", before.at("node.creationDate"))
	r.is("updateComment.post.id", post)
	r.is("updateComment.post.commentCount", 1)
	r.is("updateComment.post.updatedDate", nil) // a comment does not edit its post
	r.sent("updateComment: users read 200", "updateComment: posts execute 200")
	first := r.text("updateComment.comment.updatedDate")
	if first <= r.text("updateComment.comment.creationDate") {
		t.Errorf("updatedDate is %s, not after creationDate", first)
	}
	s.anonymous().ask(read, "id", comment).is("node.content", "Two")
	s.anonymous().ask(read, "id", comment).is("node.updatedDate", first)
	if again := bob.ask(updateComment, "id", comment, "c", "Three").text("updateComment.comment.updatedDate"); again <= first {
		t.Errorf("updatedDate is %s after a second edit, and was %s", again, first)
	}

	ann.rejected(blog.Forbidden, updateComment, "id", comment, "c", "Four") // the post's author may only delete it
	s.anonymous().rejected(blog.Unauthenticated, updateComment, "id", comment, "c", "Four")
	s.account("carl").rejected(blog.UserRequired, updateComment, "id", comment, "c", "Four")
	bob.rejected(blog.BadUserInput, updateComment, "id", comment, "c", " ")
	bob.rejected(blog.BadUserInput, updateComment, "id", comment, "c", strings.Repeat("ä", 10_001))
	bob.rejected(blog.BadUserInput, updateComment, "id", post, "c", "Four")
	bob.rejected(blog.NotFound, updateComment, "id", noComment, "c", "Four")
	s.anonymous().ask(read, "id", comment).is("node.content", "Three")
}

func TestUpdateDeletedComment(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	deleted, orphan := ann.comment(post, "One"), ann.comment(post, "Two")
	ann.ask(deleteComment, "id", deleted)
	ann.rejected(blog.NotFound, updateComment, "id", deleted, "c", "Edited")
	ann.ask(`mutation($id:ID!){deletePost(input:{id:$id}){post{id}}}`, "id", post)
	ann.rejected(blog.NotFound, updateComment, "id", orphan, "c", "Edited")
}

// updatedDate is the time of the last edit of the title or content. All copies of the post have
// it.
func TestUpdatedDate(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	const read = `query($p:ID!,$u:ID!){post(id:$p){updatedDate} user(id:$u){posts{nodes{updatedDate}}} feed{nodes{updatedDate}}}`
	checkCopies := func(want any) {
		t.Helper()
		s.project(post)
		r := s.anonymous().ask(read, "p", post, "u", ann.id)
		for _, path := range []string{"post.updatedDate", "user.posts.nodes.0.updatedDate", "feed.nodes.0.updatedDate"} {
			r.is(path, want)
		}
	}
	const edit = `mutation($p:ID!,$t:String){updatePost(input:{id:$p,title:$t}){post{updatedDate creationDate}}}`
	ann.like(post)
	ann.comment(post, "A comment")
	ann.ask(edit, "p", post, "t", "Title").is("updatePost.post.updatedDate", nil)
	checkCopies(nil)

	r := ann.ask(edit, "p", post, "t", "Another title")
	edited := r.text("updatePost.post.updatedDate")
	if edited <= r.text("updatePost.post.creationDate") {
		t.Errorf("updatedDate is %s, not after creationDate", edited)
	}
	checkCopies(edited)
	ann.ask(`mutation{updateUser(input:{username:"Anna"}){user{id}}}`)
	ann.ask(`mutation($p:ID!){unlikePost(input:{postId:$p}){post{id}}}`, "p", post)
	checkCopies(edited)
}
