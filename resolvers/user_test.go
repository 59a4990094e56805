package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/blog"
)

const createUser = `mutation($n:String!,$k:String){createUser(input:{username:$n,idempotencyKey:$k}){user{id username creationDate}}}`

func TestCreateUser(t *testing.T) {
	s := newServer(t)
	ann := s.account("ann")
	first := ann.ask(createUser, "n", "Ann")
	first.is("createUser.user.username", "Ann")
	if date := first.text("createUser.user.creationDate"); len(date) != 27 || !strings.HasSuffix(date, "Z") {
		t.Errorf("creationDate %q", date)
	}

	again := ann.ask(createUser, "n", "Ann", "k", "a key")
	again.is("createUser.user", first.at("createUser.user"))
	ann.ask(createUser, "n", "aNN").is("createUser.user", first.at("createUser.user")) // usernames ignore case
	ann.rejected(blog.AccountHasUser, createUser, "n", "Anna")
	s.account("bob").rejected(blog.UsernameTaken, createUser, "n", "aNN")
	s.anonymous().rejected(blog.Unauthenticated, createUser, "n", "Carl")
	carl := s.account("carl")
	for _, name := range []string{"", "ab", "-abc", "a b c", strings.Repeat("x", 31), "Änne"} {
		carl.rejected(blog.BadUserInput, createUser, "n", name)
	}
	carl.rejected(blog.BadUserInput, createUser, "n", "Carl", "k", "")
	carl.rejected(blog.BadUserInput, createUser, "n", "Carl", "k", strings.Repeat("k", 201))
}

func TestUpdateUser(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	r := ann.ask(updateUser, "n", "Anna")
	r.is("updateUser.user.username", "Anna")
	r.is("updateUser.user.id", ann.id)
	first, second := r.Extensions.Cosmos.Requests[0], r.Extensions.Cosmos.Requests[1]
	if (first.Container != "users" || second.Container != "usernames") && !faultProfiles[*faultsFlag].behind {
		t.Errorf("the viewer was read twice: %v", r.Extensions.Cosmos.Requests)
	}
	ann.ask(`{viewer{username}}`).is("viewer.username", "Anna")
	s.anonymous().ask(`{userByUsername(username:"Ann"){id}}`).is("userByUsername", nil)
	s.anonymous().ask(`{userByUsername(username:"ANNA"){id}}`).is("userByUsername.id", ann.id)

	bob.rejected(blog.UsernameTaken, updateUser, "n", "anna")
	bob.rejected(blog.BadUserInput, updateUser, "n", "x")
	bob.ask(updateUser, "n", "Ann") // the name is free again
	s.account("carl").rejected(blog.UserRequired, updateUser, "n", "Carl")
	s.anonymous().rejected(blog.Unauthenticated, updateUser, "n", "Carl")
}

// Mutations of one request run one after the other. Each sees the changes of the previous ones.
func TestMutationsSeeEarlierMutations(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	r := ann.ask(`mutation($p:ID!){
		a: likePost(input:{postId:$p}){post{content viewerHasLiked author{username}}}
		b: updatePost(input:{id:$p,content:"Changed"}){post{content version}}
		c: updateUser(input:{username:"Anna"}){user{username}}
		d: createComment(input:{postId:$p,content:"Hi"}){comment{author{username creationDate}} post{content commentCount}}
		e: unlikePost(input:{postId:$p}){post{likeCount viewerHasLiked content}}
	}`, "p", post)
	r.is("a.post.content", "Content")
	r.is("a.post.viewerHasLiked", true)
	r.is("b.post.content", "Changed")
	r.is("d.comment.author.username", "Anna")
	r.is("d.post.content", "Changed")
	r.is("d.post.commentCount", 1)
	r.is("e.post.viewerHasLiked", false)
	r.is("e.post.likeCount", 0)
}

func TestViewer(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	s.anonymous().ask(`{viewer{id}}`).is("viewer", nil)
	s.account("carl").ask(`{viewer{id}}`).is("viewer", nil)
	r := ann.ask(`{viewer{id username posts{nodes{id}}}}`)
	r.is("viewer.id", ann.id)
	r.sent("viewer: users read 200", "viewer.posts: users query 200")
}

func TestUser(t *testing.T) {
	s := newServer(t)
	ann, reader := s.user("Ann"), s.anonymous()
	r := reader.ask(`query($u:ID!){user(id:$u){id username creationDate}}`, "u", ann.id)
	r.is("user.username", "Ann")
	r.sent("user: users read 200")
	reader.ask(`query($u:ID!){user(id:$u){id}}`, "u", noUser).is("user", nil)
	reader.rejected(blog.BadUserInput, `query($u:ID!){user(id:$u){id}}`, "u", noPost)
	reader.rejected(blog.BadUserInput, `query($u:ID!){user(id:$u){id}}`, "u", "Ann")
	const byUsername = `query($n:String!){userByUsername(username:$n){id}}`
	reader.ask(byUsername, "n", "Nobody").is("userByUsername", nil)
	for _, name := range []string{"", "a/b c", "x", "Ännchen"} {
		reader.rejected(blog.BadUserInput, byUsername, "n", name)
	}
}

func TestUserPosts(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	for i := range 5 {
		ann.post(fmt.Sprint("Post ", i), "Content")
	}
	const query = `query($u:ID!,$n:Int,$a:String){user(id:$u){posts(first:$n,after:$a){
		nodes{title excerpt author{id username} version} edges{cursor node{title}} pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}`
	r := s.anonymous().ask(query, "u", ann.id, "n", 2)
	r.is("user.posts.nodes.0.title", "Post 4")
	r.is("user.posts.nodes.1.title", "Post 3")
	r.is("user.posts.nodes.0.author.id", ann.id)
	r.is("user.posts.nodes.0.author.username", "Ann")
	r.is("user.posts.nodes.0.version", 1)
	r.is("user.posts.pageInfo.hasNextPage", true)
	r.is("user.posts.pageInfo.hasPreviousPage", false)
	r.is("user.posts.pageInfo.endCursor", r.at("user.posts.edges.1.cursor"))
	r.is("user.posts.pageInfo.startCursor", r.at("user.posts.edges.0.cursor"))
	r.sent("user: users read 200", "user.posts: users query 200")

	r = s.anonymous().ask(query, "u", ann.id, "n", 3, "a", r.text("user.posts.pageInfo.endCursor"))
	r.is("user.posts.nodes.#", 3)
	r.is("user.posts.edges.2.node.title", "Post 0")
	r.is("user.posts.pageInfo.hasNextPage", false)
	r.is("user.posts.pageInfo.hasPreviousPage", true)

	s.anonymous().rejected(blog.BadUserInput, query, "u", s.user("Bob").id, "a", r.text("user.posts.pageInfo.endCursor"))
	s.anonymous().rejected(blog.BadUserInput, query, "u", ann.id, "n", -1)
	s.anonymous().rejected(blog.BadUserInput, query, "u", ann.id, "n", 101)
	s.anonymous().ask(query, "u", ann.id, "n", nil).is("user.posts.nodes.#", 5)
}
