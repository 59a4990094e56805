package resolvers_test

import (
	"fmt"
	"testing"

	"cosmosblog/blog"
)

// A page of no elements is answered, and reads only what shows beside them: the Relay Cursor
// Connections Specification refuses negative sizes alone ("Pagination algorithm", EdgesToReturn),
// and asks whether there are more than `first` elements (HasNextPage).
func TestPagesOfNoElements(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.ask(`mutation{createPost(input:{title:"Title",content:"Content",tags:["go"]}){post{id}}}`).text("createPost.post.id")
	s.project(post)
	ann.comment(post, "Hi")
	ann.like(post)
	s.project(post)
	last := ann.ask(`query($p:ID!){post(id:$p){comments{pageInfo{endCursor}}}}`, "p", post).text("post.comments.pageInfo.endCursor")
	month := ann.ask(`{archiveMonths{month}}`).text("archiveMonths.0.month")
	const page = `{edges{cursor} nodes{id} ...on %[1]s{pageInfo{startCursor endCursor hasPreviousPage ...on PageInfo@skip(if:%[2]v){hasNextPage}}}}`
	for name, c := range map[string]struct {
		query, of  string
		list       string   // the path
		before     []string // requests for what is around the list
		next       []string // those that show whether there are elements
		isPrevious bool
	}{
		"feed":                 {`{feed(first:0)%s}`, "Post", "feed", nil, []string{"feed: feed query 200"}, false},
		"User.posts":           {`{user(id:"` + ann.id + `"){posts(first:0)%s}}`, "Post", "user.posts", []string{"user: users read 200"}, []string{"user.posts: users query 200"}, false},
		"Post.comments":        {`{post(id:"` + post + `"){comments(first:0)%s}}`, "Comment", "post.comments", []string{"post: posts read 200"}, []string{"post.comments: posts query 200"}, false},
		"Post.comments, after": {`{post(id:"` + post + `"){comments(first:0,after:"` + last + `")%s}}`, "Comment", "post.comments", []string{"post: posts read 200"}, []string{"post.comments: posts query 200"}, true},
		"Post.likes":           {`{post(id:"` + post + `"){likes(first:0)%s}}`, "Like", "post.likes", []string{"post: posts read 200"}, []string{"post.likes: posts query 200"}, false},
		"Tag.posts":            {`{tag(name:"go"){posts(first:0)%s}}`, "Post", "tag.posts", nil, []string{"tag.posts: lists query 200"}, false},
		"ArchiveMonth.posts":   {`{archive(month:"` + month + `"){posts(first:0)%s}}`, "Post", "archive.posts", nil, []string{"archive.posts: lists query 200"}, false},
	} {
		for _, skipped := range []bool{true, false} {
			r := s.anonymous().ask(fmt.Sprintf(c.query, fmt.Sprintf(page, c.of+"Connection", skipped)))
			r.is(c.list+".edges.#", 0)
			r.is(c.list+".nodes.#", 0)
			r.is(c.list+".pageInfo.startCursor", nil)
			r.is(c.list+".pageInfo.endCursor", nil)
			r.is(c.list+".pageInfo.hasPreviousPage", c.isPrevious)
			if skipped {
				r.sent(c.before...)
				continue
			}
			r.is(c.list+".pageInfo.hasNextPage", !c.isPrevious)
			r.sent(append(c.before, c.next...)...)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}

	r := s.anonymous().ask(`query($p:ID!){post(id:$p){comments(first:0){totalCount} likes(first:0){totalCount}}}`, "p", post)
	r.is("post.comments.totalCount", 1)
	r.is("post.likes.totalCount", 1)
	r.sent("post: posts read 200")
	r = s.anonymous().ask(`{tags(first:0){name} archiveMonths(first:0){month}}`)
	r.is("tags.#", 0)
	r.is("archiveMonths.#", 0)
	r.sent()
	const feed = `query($n:Int!){feed(first:$n){nodes{comments{nodes{id}}}}}`
	r = s.anonymous().ask(feed, "n", 0)
	r.is("feed.nodes.#", 0)
	if got, want := r.Extensions.Cosmos.Estimate, s.anonymous().ask(feed, "n", 1).Extensions.Cosmos.Estimate; got != want {
		t.Errorf("a page of no elements has the price %g, and one of one %g", got, want)
	}
	for _, query := range []string{`{feed(first:-1){nodes{id}}}`, `{tags(first:-1){name}}`, `{archiveMonths(first:-1){month}}`, `{tag(name:"go"){posts(first:-1){nodes{id}}}}`} {
		s.anonymous().rejected(blog.BadUserInput, query)
	}
	s.anonymous().rejected(blog.BadUserInput, `{feed(first:0,after:"x"){nodes{id}}}`)
}
