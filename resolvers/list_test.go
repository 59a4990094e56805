package resolvers_test

import (
	"fmt"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/store/chores"
)

const (
	readTag = `query($t:String!,$n:Int,$a:String){tag(name:$t){name postCount posts(first:$n,after:$a){
		nodes{id title excerpt author{username} tags{name} version} edges{cursor} pageInfo{hasNextPage endCursor}}}}`
	createTagged = `mutation($i:CreatePostInput!){createPost(input:$i){post{id tags{name} version}}}`
	retag        = `mutation($id:ID!,$t:[String!]){updatePost(input:{id:$id,tags:$t}){post{tags{name} version updatedDate}}}`
)

// tagged creates a post with tags.
func (c *client) tagged(title string, tags ...string) (id string) {
	c.Helper()
	r := c.ask(createTagged, "i", map[string]any{"title": title, "content": "Content of " + title, "tags": tags})
	r.is("createPost.post.tags.#", len(tags))
	id = r.text("createPost.post.id")
	c.project(id)
	return id
}

func TestTag(t *testing.T) {
	s := newServer(t)
	ann, bob := s.user("Ann"), s.user("Bob")
	s.anonymous().ask(readTag, "t", "go").is("tag.posts.nodes.#", 0)
	first, second := ann.tagged("First", "go", "日記"), bob.tagged("Second", "go")
	r := s.anonymous().ask(readTag, "t", "go", "n", 1)
	r.is("tag.postCount", 2)
	r.is("tag.posts.nodes.#", 1)
	r.is("tag.posts.nodes.0.id", second)
	r.is("tag.posts.nodes.0.author.username", "Bob")
	r.is("tag.posts.pageInfo.hasNextPage", true)
	after := r.text("tag.posts.pageInfo.endCursor")
	r = s.anonymous().ask(readTag, "t", "go", "n", 1, "a", after)
	r.is("tag.posts.nodes.0.id", first)
	r.is("tag.posts.nodes.0.tags.1.name", "日記")
	r.is("tag.posts.pageInfo.hasNextPage", false)
	s.anonymous().rejected(blog.BadUserInput, readTag, "t", "日記", "a", after) // the cursor of another list

	r = ann.ask(retag, "id", first, "t", []string{"data", "go"})
	r.is("updatePost.post.tags.0.name", "data")
	r.is("updatePost.post.version", 2)
	s.project(first)
	s.anonymous().ask(readTag, "t", "日記").is("tag.postCount", 0)
	r = s.anonymous().ask(`{tags{name postCount}}`)
	r.is("tags.#", 2)
	r.is("tags.0.name", "go")
	r.is("tags.0.postCount", 2)
	r.is("tags.1.name", "data")
	r.sentOperations("lists query", "lists readMany")

	ann.ask(retag, "id", first, "t", nil).is("updatePost.post.version", 2)
	ann.ask(retag, "id", first, "t", []string{"data", "go"}).is("updatePost.post.version", 2)
	ann.ask(retag, "id", first, "t", []string{}).is("updatePost.post.tags.#", 0)
	s.project(first)
	s.anonymous().ask(`{tags{name}}`).is("tags.#", 1)
}

func TestArchive(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	s.anonymous().ask(`{archiveMonths{month}}`).is("archiveMonths.#", 0)
	id := ann.tagged("First")
	r := s.anonymous().ask(`{archiveMonths{month postCount posts{nodes{id title}}}}`)
	r.is("archiveMonths.#", 1)
	r.is("archiveMonths.0.postCount", 1)
	r.is("archiveMonths.0.posts.nodes.0.id", id)
	month := r.text("archiveMonths.0.month")
	read := `query($m:String!){archive(month:$m){month postCount posts{nodes{title}}}}`
	s.anonymous().ask(read, "m", month).is("archive.posts.nodes.0.title", "First")
	s.anonymous().ask(read, "m", "1999-12").is("archive.postCount", 0)
	s.anonymous().ask(`query($m:String){archiveMonths(before:$m){month}}`, "m", month).is("archiveMonths.#", 0)

	ann.ask(`mutation($id:ID!){deletePost(input:{id:$id}){post{id}}}`, "id", id)
	if err := chores.New(s.db).RepairPost(t.Context(), rawID(t, id)); err != nil {
		t.Fatal(err)
	}
	s.anonymous().ask(`{archiveMonths{month}}`).is("archiveMonths.#", 0)
	s.anonymous().ask(read, "m", month).is("archive.posts.nodes.#", 0)
}

// The counts and recent comments of the posts of a list are read in one batch, and only if they are
// requested. A post that was deleted meanwhile has none.
func TestListedPostsReadCountsInBatches(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	var last string
	for i := range 3 {
		last = ann.tagged(fmt.Sprint("Post ", i), "go", fmt.Sprint("tag-", i))
		ann.comment(last, fmt.Sprint("Comment ", i))
	}
	anonymous := s.anonymous()
	anonymous.ask(`{tag(name:"go"){posts{nodes{id title excerpt version author{id username} tags{name}}}}}`).sentOperations("lists query")
	r := anonymous.ask(`{tag(name:"go"){posts{nodes{commentCount likeCount recentComments{excerpt} content}}}}`)
	r.is("tag.posts.nodes.1.commentCount", 1)
	r.is("tag.posts.nodes.1.recentComments.0.excerpt", "Comment 1")
	r.is("tag.posts.nodes.0.content", "Content of Post 2")
	r.sentOperations("lists query", "posts readMany")
	r = anonymous.ask(`{tag(name:"go"){posts{nodes{recentComments{content}}}}}`)
	r.is("tag.posts.nodes.2.recentComments.0.content", "Comment 0")
	r.sentOperations("lists query", "posts readMany", "posts readMany")
	r = anonymous.ask(`{tag(name:"go"){posts{nodes{tags{name postCount}}}}}`)
	r.is("tag.posts.nodes.0.tags.0.postCount", 3)
	r.is("tag.posts.nodes.0.tags.1.postCount", 1)
	r.sentOperations("lists query", "lists readMany")

	ann.ask(`mutation($id:ID!){deletePost(input:{id:$id}){post{id}}}`, "id", last)
	r = anonymous.ask(`{tag(name:"go"){posts{nodes{title commentCount likeCount recentComments{excerpt}}}}}`) // the projector is behind
	r.is("tag.posts.nodes.0.title", "Post 2")
	r.is("tag.posts.nodes.0.commentCount", 0)
	r.is("tag.posts.nodes.0.likeCount", 0)
	r.is("tag.posts.nodes.0.recentComments.#", 0)
	r.is("tag.posts.nodes.1.commentCount", 1)
}
