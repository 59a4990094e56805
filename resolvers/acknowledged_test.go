package resolvers_test

import (
	"fmt"
	"sync"
	"testing"

	"cosmosblog/blog"
)

const updateUser = `mutation($n:String!){updateUser(input:{username:$n}){user{id username}}}`

// A command that undoes the one before is not taken for done, whatever a replica shows.
func TestCommandsThatUndoTheLast(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "A")
	for i, content := range []string{"B", "A", "C"} {
		edited := ann.ask(updatePost, "id", post, "c", content, "v", i+1)
		edited.is("updatePost.post.content", content)
		edited.is("updatePost.post.version", i+2)
	}
	ann.rejected(blog.Conflict, updatePost, "id", post, "c", "D", "v", 3)
	bob.rejected(blog.Forbidden, updatePost, "id", post, "c", "D")
	s.anonymous().ask(readPost, "p", post).is("post.content", "C")

	for _, name := range []string{"Bea", "Ann", "Bea", "ann"} {
		ann.ask(updateUser, "n", name).is("updateUser.user.username", name)
		s.anonymous().ask(`query($n:String!){userByUsername(username:$n){id}}`, "n", name).is("userByUsername.id", ann.id)
	}
	bob.ask(updateUser, "n", "Bea")
	ann.rejected(blog.UsernameTaken, updateUser, "n", "Bea")

	for range 2 {
		comment := bob.comment(post, "Hi")
		bob.ask(likePost, "p", post).is("likePost.post.likeCount", 1)
		bob.ask(unlikePost, "p", post).is("unlikePost.post.likeCount", 0)
		bob.ask(deleteComment, "id", comment)
		if !faultProfiles[*faultsFlag].repeatsWrites() { // a repeated deletion may be the first one
			bob.rejected(blog.NotFound, deleteComment, "id", comment)
		}
	}
	ann.ask(deletePost, "id", post)
	ann.rejected(blog.NotFound, deletePost, "id", post)
	bob.rejected(blog.NotFound, likePost, "p", post)
	bob.ask(deleteUser, "n", "Bea")
	bob.rejected(blog.DeletionUnderWay, createUser, "n", "Bea")
	bob.rejected(blog.DeletionUnderWay, updateUser, "n", "Bert")
}

// atOnce sends one request for each tab, all at the same moment, and waits for the answers.
func atOnce(tabs int, send func(tab int)) {
	var group sync.WaitGroup
	for tab := range tabs {
		group.Go(func() { send(tab) })
	}
	group.Wait()
}

// Edits of one post in several tabs are each made once, although answers are lost and the edit of
// another tab is made before a retry.
func TestEditsInSeveralTabs(t *testing.T) {
	// A command is tried five times. In a round it fails at most four times: it loses to the other
	// tab, faultsPerRequest faults hit it, and after an answer that was cut, a replica that is behind
	// hides its own edit.
	const tabs, rounds = 2, 60
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	for i := range rounds {
		atOnce(tabs, func(tab int) {
			if r := ann.send(updatePost, "id", post, "c", fmt.Sprint(i, tab)); len(r.Errors) > 0 {
				t.Errorf("round %d: %v", i, r.Errors)
			}
		})
	}
	s.anonymous().ask(readPost, "p", post).is("post.version", 1+tabs*rounds)
}
