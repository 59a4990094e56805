package resolvers_test

import (
	"fmt"
	"testing"

	"cosmosblog/blog"
)

const readFeed = `query($n:Int,$a:String){feed(first:$n,after:$a){
	nodes{id title excerpt author{id username} commentCount likeCount creationDate version} edges{cursor node{id}} pageInfo{hasNextPage endCursor}}}`

func TestFeed(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	s.anonymous().ask(readFeed).is("feed.nodes.#", 0)
	first := ann.post("First", "Content")
	second := bob.post("Second", "Content")
	ann.comment(second, "Hi")
	s.project(second)
	r := s.anonymous().ask(readFeed)
	r.is("feed.nodes.#", 2)
	r.is("feed.nodes.0.id", second)
	r.is("feed.nodes.0.commentCount", 1)
	r.is("feed.nodes.0.author.username", "Bob")
	r.is("feed.edges.1.node.id", first)
	r.is("feed.pageInfo.hasNextPage", false)
	r.sent("feed: feed query 200")
	if key := r.Extensions.Cosmos.Requests[0].PartitionKey; key != "post" {
		t.Errorf("the feed's partition is %v", key)
	}
	s.anonymous().rejected(blog.BadUserInput, readFeed, "n", -1)
	s.anonymous().rejected(blog.BadUserInput, readFeed, "a", "")
}

func TestFeedEnds(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	for i := range blog.FeedLength + 5 {
		ann.post(fmt.Sprint("Post ", i), "Content")
	}
	const last = blog.FeedLength % 60 // elements of the last page
	r := s.anonymous().ask(readFeed, "n", 60)
	r.is("feed.nodes.0.title", fmt.Sprint("Post ", blog.FeedLength+4))
	for range blog.FeedLength / 60 {
		r.is("feed.nodes.#", 60)
		r = s.anonymous().ask(readFeed, "n", 60, "a", r.text("feed.pageInfo.endCursor"))
	}
	r.is("feed.nodes.#", last)
	r.is(fmt.Sprintf("feed.nodes.%d.title", last-1), "Post 5")
	r.is("feed.pageInfo.hasNextPage", false)
	s.anonymous().ask(readFeed, "a", r.text("feed.pageInfo.endCursor")).is("feed.nodes.#", 0)
}

// Fields that the copies in the feed lack are read in one batch for all posts.
func TestFeedReadsInBatches(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	for i := range 3 {
		bob.like(ann.post(fmt.Sprint("Post ", i), fmt.Sprint("Content ", i)))
		bob.post("Post", "Content")
	}
	r := bob.ask(`{feed{nodes{content}}}`)
	r.is("feed.nodes.1.content", "Content 2")
	r.sentOperations("feed query", "posts readMany")
	if keys, _ := r.Extensions.Cosmos.Requests[1].PartitionKey.([]any); len(keys) != 6 {
		t.Errorf("read many of %v", r.Extensions.Cosmos.Requests[1].PartitionKey)
	}

	r = bob.ask(`{feed{edges{node{viewerHasLiked}}}}`)
	r.is("feed.edges.0.node.viewerHasLiked", false)
	r.is("feed.edges.1.node.viewerHasLiked", true)
	r.sentOperations("feed query", "posts readMany")

	r = bob.ask(`{feed{nodes{author{id username creationDate}}}}`)
	r.sentOperations("feed query", "users readMany")

	s.anonymous().ask(`{feed{nodes{viewerHasLiked}}}`).sentOperations("feed query")

	r = bob.ask(`{feed{nodes{content comments{nodes{id post{title content}}}}}}`)
	r.sentOperations("feed query", "posts readMany", "posts query", "posts query", "posts query", "posts query", "posts query", "posts query")
}

// sentOperations compares the database requests of a reply, each as "container operation".
func (r reply) sentOperations(want ...string) {
	r.t.Helper()
	var got []string
	for _, q := range r.Extensions.Cosmos.Requests {
		got = append(got, q.Container+" "+q.Operation)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("sent %v, want %v", got, want)
	}
}
