package resolvers_test

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

const readPrevious = `query($p:ID!){post(id:$p){previousByAuthor{id title excerpt contentLength commentCount author{id username}}}}`

// remove deletes a post, and its copies as the projector does.
func (c *client) remove(post string) {
	c.Helper()
	c.ask(deletePost, "id", post)
	if err := chores.New(c.db).RepairPost(c.Context(), rawID(c.T, post)); err != nil {
		c.Fatal(err)
	}
}

// previousByAuthor is the next older post of the author, by one query. Posts of others, deleted and
// newer ones do not count.
func TestPreviousByAuthor(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	first, gone := ann.post("First", "The first one"), ann.post("Gone", "Content")
	bob.post("Of Bob", "Content")
	last := ann.post("Last", "Content")
	ann.post("Newer", "Content")

	r := s.anonymous().ask(readPrevious, "p", last)
	r.is("post.previousByAuthor.id", gone)
	r.sent("post: posts read 200", "post.previousByAuthor: users query 200")
	ann.remove(gone)
	r = s.anonymous().ask(readPrevious, "p", last)
	r.is("post.previousByAuthor.id", first)
	r.is("post.previousByAuthor.title", "First")
	r.is("post.previousByAuthor.contentLength", len("The first one"))
	r.is("post.previousByAuthor.author.id", ann.id)
	r.is("post.previousByAuthor.commentCount", 0)

	r = s.anonymous().ask(readPrevious, "p", first)
	r.is("post.previousByAuthor", nil)
	r.sent("post: posts read 200", "post.previousByAuthor: users query 200")
	ann.remove(first)
	s.anonymous().ask(readPrevious, "p", last).is("post.previousByAuthor", nil)
}

// Of posts with the same date, the ids decide, as in the author's list. Who follows
// previousByAuthor sees the posts of the list, each once.
func TestPreviousOfTheSameDate(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	posts := s.db.Container(schema.Posts)
	for i := range 4 {
		id := ann.ask(createPost, "t", fmt.Sprint("Post ", i), "c", "Content").text("createPost.post.id")
		var changes azcosmos.PatchOperations
		changes.AppendSet("/creationDate", "2026-11-20T09:00:00.000000Z")
		if err := cosmos.PatchIf(t.Context(), posts, rawID(t, id), rawID(t, id), "c.type = 'post'", changes); err != nil {
			t.Fatal(err)
		}
		s.project(id)
	}
	list := s.anonymous().ask(`query($u:ID!){user(id:$u){posts{nodes{id previousByAuthor{id}}}}}`, "u", ann.id)
	list.is("user.posts.nodes.#", 4)
	for i := range 3 {
		list.is(fmt.Sprintf("user.posts.nodes.%d.previousByAuthor.id", i), list.at(fmt.Sprintf("user.posts.nodes.%d.id", i+1)))
	}
	list.is("user.posts.nodes.3.previousByAuthor", nil)
}

// The posts of a list cost a query each, whatever else is selected. What is below them is read for
// each alone, and not for the posts of the list. Other fields of the list are read together.
func TestPreviousInAList(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	for i := range 2 {
		ann.post(fmt.Sprint("Ann ", i), fmt.Sprint("Content of Ann ", i))
		bob.post(fmt.Sprint("Bob ", i), fmt.Sprint("Content of Bob ", i))
	}
	sent := func(query string, want map[string]int) reply {
		t.Helper()
		r := s.anonymous().ask(query)
		got := map[string]int{}
		for _, q := range r.Extensions.Cosmos.Requests {
			got[q.Container+" "+q.Operation]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("sent %v, want %v", got, want)
		}
		return r
	}
	sent(`{feed{nodes{content previousByAuthor{title}}}}`, map[string]int{"feed query": 1, "users query": 4, "posts readMany": 1})
	r := sent(`{feed{nodes{previousByAuthor{content author{postCount} viewerHasLiked} again:previousByAuthor{title}}}}`,
		map[string]int{"feed query": 1, "users query": 4, "posts read": 2, "users read": 2})
	for i, title := range []string{"Bob 0", "Ann 0"} {
		r.is(fmt.Sprintf("feed.nodes.%d.again.title", i), title)
		r.is(fmt.Sprintf("feed.nodes.%d.previousByAuthor.content", i), "Content of "+title)
		r.is(fmt.Sprintf("feed.nodes.%d.previousByAuthor.author.postCount", i), 2)
		r.is(fmt.Sprintf("feed.nodes.%d.again", i+2), nil)
	}
	s.anonymous().ask(`{feed(first:100){nodes{previousByAuthor{title}}}}`)
	s.anonymous().rejected(blog.CostLimitExceeded, `{feed(first:100){nodes{previousByAuthor{title previousByAuthor{title}}}}}`)
}

// After the author was deleted, the copies of posts that are left are shown as in the feed. A copy
// can outlive its post: it then has no content.
func TestPreviousOfADeletedAuthor(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	first, last := ann.post("First", "Content"), ann.post("Last", "Content")
	ann.ask(deleteUser, "n", "Ann")
	s.anonymous().ask(readPrevious, "p", last).is("post.previousByAuthor.id", first)

	bob := s.user("Bob")
	first, last = bob.post("First", "Content"), bob.post("Last", "Content")
	bob.ask(deletePost, "id", first) // no projector deletes the copy
	r := s.anonymous().ask(`query($p:ID!){post(id:$p){previousByAuthor{title content}}}`, "p", last)
	r.is("post.previousByAuthor.title", "First")
	r.is("post.previousByAuthor.content", nil)
}
