package resolvers_test

import (
	"fmt"
	"testing"

	"cosmosblog/blog"
)

const deleteUser = `mutation($n:String!){deleteUser(input:{username:$n}){user{id username postCount posts{nodes{id}}}}}`

func TestDeleteUser(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	ann.rejected(blog.BadUserInput, deleteUser, "n", "Bob")
	ann.rejected(blog.BadUserInput, deleteUser, "n", "")
	s.anonymous().rejected(blog.Unauthenticated, deleteUser, "n", "Ann")
	s.account("carl").rejected(blog.UserRequired, deleteUser, "n", "Carl")

	r := ann.ask(deleteUser, "n", "aNN")
	r.is("deleteUser.user.id", ann.id)
	r.is("deleteUser.user.username", "Ann")
	if !faultProfiles[*faultsFlag].behind { // the count of a replica that is behind may be older
		r.is("deleteUser.user.postCount", 1)
	}
	r.is("deleteUser.user.posts.nodes.#", 0)
	r.sent("deleteUser: users read 200", "deleteUser: users patch 200", "deleteUser: leases read 404")

	r = ann.ask(`query($id:ID!){viewer{id} user(id:$id){id} node(id:$id){id} userByUsername(username:"Ann"){id}}`, "id", ann.id)
	for _, path := range []string{"viewer", "user", "node", "userByUsername"} {
		r.is(path, nil)
	}
	const want = "The user of your account is being deleted. In about a minute, you can create a new one with the mutation `createUser`."
	messages := []string{
		ann.rejected(blog.DeletionUnderWay, deleteUser, "n", "Ann"),
		ann.rejected(blog.DeletionUnderWay, `mutation{updateUser(input:{username:"Anna"}){user{id}}}`),
	}
	if !faultProfiles[*faultsFlag].behind {
		// These commands write to partitions of posts. From a replica that lacks the deletion, they
		// cannot know of it. The last pass of the deletion deletes what they write.
		messages = append(messages,
			ann.rejected(blog.DeletionUnderWay, `mutation{createPost(input:{title:"Title",content:"Content"}){post{id}}}`),
			ann.rejected(blog.DeletionUnderWay, `mutation($p:ID!){likePost(input:{postId:$p}){post{id}}}`, "p", post),
		)
	}
	for _, message := range messages {
		if message != want {
			t.Errorf("the message is %q", message)
		}
	}
	ann.rejected(blog.DeletionUnderWay, createUser, "n", "Ann")
	ann.rejected(blog.DeletionUnderWay, createUser, "n", "Anna")
	bob.rejected(blog.UsernameTaken, `mutation{updateUser(input:{username:"Ann"}){user{id}}}`) // still reserved
}

// postCount counts the copies of a user's posts. It is read with the user. For the references in
// a list, one read returns all counts.
func TestPostCount(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	ann.ask(`{viewer{postCount}}`).is("viewer.postCount", 0)
	posts := []string{ann.post("One", "Content"), bob.post("Two", "Content"), ann.post("Three", "Content")}
	s.project(posts[0]) // a second time, which must not count

	r := s.anonymous().ask(`{feed{nodes{author{username postCount}}}}`)
	for i, want := range []int{2, 1, 2} {
		r.is(fmt.Sprintf("feed.nodes.%d.author.postCount", i), want)
	}
	requests := r.Extensions.Cosmos.Requests
	if !faultProfiles[*faultsFlag].repeatsWrites() && (len(requests) != 2 || requests[1].Operation != "readMany") {
		t.Errorf("requests: %v", requests)
	}

	r = s.anonymous().ask(`query($id:ID!){user(id:$id){username postCount}}`, "id", ann.id)
	r.is("user.postCount", 2)
	r.sent("user: users read 200")
}
