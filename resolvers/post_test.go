package resolvers_test

import (
	"strings"
	"testing"

	"cosmosblog/blog"
)

const (
	createPost = `mutation($t:String!,$c:String!,$k:String){createPost(input:{title:$t,content:$c,idempotencyKey:$k}){post{
		id title content excerpt author{id username} commentCount likeCount creationDate version viewerHasLiked}}}`
	updatePost = `mutation($id:ID!,$t:String,$c:String,$v:Int){updatePost(input:{id:$id,title:$t,content:$c,version:$v}){post{
		id title content excerpt version commentCount}}}`
	deletePost = `mutation($id:ID!){deletePost(input:{id:$id}){post{id title content comments{nodes{id}}}}}`
	readPost   = `query($p:ID!){post(id:$p){id title content excerpt author{id username} commentCount likeCount creationDate version}}`
)

func TestCreatePost(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	content := strings.Repeat("word ", 100)
	r := ann.ask(createPost, "t", "Title", "c", content)
	r.is("createPost.post.title", "Title")
	r.is("createPost.post.content", content)
	r.is("createPost.post.excerpt", blog.Excerpt(content))
	r.is("createPost.post.author.id", ann.id)
	r.is("createPost.post.author.username", "Ann")
	r.is("createPost.post.version", 1)
	r.is("createPost.post.commentCount", 0)
	r.is("createPost.post.viewerHasLiked", false)
	r.sent("createPost: users read 200", "createPost: posts execute 200", "createPost.post.viewerHasLiked: posts read 404")

	read := s.anonymous().ask(readPost, "p", r.text("createPost.post.id"))
	for _, field := range []string{"id", "title", "content", "excerpt", "author", "commentCount", "likeCount", "creationDate", "version"} {
		read.is("post."+field, r.at("createPost.post."+field))
	}
	read.sent("post: posts read 200")
	if charge := read.Extensions.Cosmos.RequestCharge; charge < 1 || charge > 1.5 {
		t.Errorf("reading a post costs %v RU", charge)
	}

	s.anonymous().rejected(blog.Unauthenticated, createPost, "t", "Title", "c", "Content")
	if advice := s.account("carl").rejected(blog.UserRequired, createPost, "t", "Title", "c", "Content"); !strings.Contains(advice, "createUser") {
		t.Errorf("the advice is %q", advice)
	}
	ann.rejected(blog.BadUserInput, createPost, "t", " \n", "c", "Content")
	ann.rejected(blog.BadUserInput, createPost, "t", strings.Repeat("x", 201), "c", "Content")
	ann.rejected(blog.BadUserInput, createPost, "t", "Title", "c", "")
	ann.rejected(blog.BadUserInput, createPost, "t", "Title", "c", strings.Repeat("x", 256<<10+1))
	ann.rejected(blog.BadUserInput, createPost, "t", "Title", "c", "Content", "k", "")
}

func TestCreatePostWithKey(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	r := ann.ask(createPost, "t", "Title", "c", "Content", "k", "key")
	again := ann.ask(createPost, "t", "Title", "c", "Content", "k", "key")
	again.is("createPost.post.id", r.at("createPost.post.id"))
	again.is("createPost.post.creationDate", r.at("createPost.post.creationDate"))
	ann.rejected(blog.IdempotencyKeyReused, createPost, "t", "Another", "c", "Content", "k", "key")
	if other := bob.ask(createPost, "t", "Title", "c", "Content", "k", "key"); other.at("createPost.post.id") == r.at("createPost.post.id") {
		t.Error("two authors' posts share an id")
	}
}

func TestUpdatePost(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	r := ann.ask(updatePost, "id", post, "t", "New title", "v", 1)
	r.is("updatePost.post.title", "New title")
	r.is("updatePost.post.content", "Content")
	r.is("updatePost.post.version", 2)
	ann.rejected(blog.Conflict, updatePost, "id", post, "c", "New content", "v", 1)
	bob.like(post) // must not conflict with the editor
	r = ann.ask(updatePost, "id", post, "c", "New content", "v", 2)
	r.is("updatePost.post.version", 3)
	r.is("updatePost.post.excerpt", "New content")
	ann.ask(updatePost, "id", post, "t", nil).is("updatePost.post.version", 3)

	bob.rejected(blog.Forbidden, updatePost, "id", post, "t", "Mine", "v", 1)
	ann.rejected(blog.NotFound, updatePost, "id", noPost, "t", "Title")
	ann.rejected(blog.BadUserInput, updatePost, "id", ann.id, "t", "Title")
	ann.rejected(blog.BadUserInput, updatePost, "id", post, "t", "")
	s.anonymous().rejected(blog.Unauthenticated, updatePost, "id", post, "t", "Title")
}

func TestDeletePost(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	comment, like := bob.comment(post, "Hi"), bob.like(post)
	bob.rejected(blog.Forbidden, deletePost, "id", post)
	r := ann.ask(deletePost, "id", post)
	r.is("deletePost.post.id", post)
	r.is("deletePost.post.title", "Title")
	r.is("deletePost.post.comments.nodes.#", 0)
	ann.rejected(blog.NotFound, deletePost, "id", post)
	bob.rejected(blog.NotFound, deletePost, "id", post)
	ann.rejected(blog.NotFound, updatePost, "id", post, "t", "Title")
	s.anonymous().ask(readPost, "p", post).is("post", nil)
	r = s.anonymous().ask(`query($ids:[ID!]!){nodes(ids:$ids){id}}`, "ids", []string{post, comment, like})
	r.is("nodes", []any{nil, nil, nil})
}

// A copy may outlive its post until the projector deletes it. Lists with that copy still resolve.
func TestCopyOfADeletedPost(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	kept, gone := ann.post("Kept", "Content"), ann.post("Gone", "Content")
	ann.comment(gone, "Hi")
	ann.ask(deletePost, "id", gone) // no projector deletes the copy
	r := ann.ask(`{feed{nodes{id content viewerHasLiked comments{nodes{id}} likes{edges{cursor}}}}}`)
	r.is("feed.nodes.0.id", gone)
	r.is("feed.nodes.0.content", nil)
	r.is("feed.nodes.0.comments.nodes.#", 0)
	r.is("feed.nodes.0.likes.edges.#", 0)
	r.is("feed.nodes.1.id", kept)
	r.is("feed.nodes.1.content", "Content")
}

func TestPost(t *testing.T) {
	s := newServer(t)
	reader := s.anonymous()
	reader.ask(readPost, "p", noPost).is("post", nil)
	reader.rejected(blog.BadUserInput, readPost, "p", noUser)
	reader.rejected(blog.BadUserInput, readPost, "p", "")
}
