//go:build ci

package costs

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
	"cosmosblog/proof/apitest"
)

// TestLargestCosts executes operations on the largest items that the API accepts. Each is either
// rejected by its price, or charged at most three times its price, or at most twice the limit and
// one request for each field in flight. No request is charged more than the limit.
func TestLargestCosts(t *testing.T) {
	b := newBlog(t)
	content := strings.Repeat("word ", blog.MaxContentBytes/5+1)[:blog.MaxContentBytes]
	for range 100 {
		b.viewer.CreatePost(t, "A long post", content)
	}
	post := b.viewer.CreatePost(t, strings.Repeat("𝔸", blog.MaxTitleLength), content)
	comment := strings.Repeat("𝔸", blog.MaxCommentLength)
	for range 100 {
		b.viewer.CreateComment(t, post, comment)
	}
	last := b.viewer.CreateComment(t, post, comment)
	b.settle()
	limit := float64(limits.Default().Cost)
	repeat := func(n int, mutation string) string {
		var document strings.Builder
		document.WriteString("mutation ($text: String! = \"\") {")
		for i := range n {
			fmt.Fprintf(&document, " m%d: %s", i, strings.ReplaceAll(mutation, "NUMBER", fmt.Sprint(i)))
		}
		return document.String() + " }"
	}
	for _, o := range []struct {
		name, document string
		text           string
	}{
		{"100 contents", `{ feed(first: 100) { nodes { content } } }`, ""},
		{"100 contents with a comment each", `{ feed(first: 100) { nodes { content comments(first: 1) { nodes { content } } } } }`, ""},
		{"100 contents of the author", fmt.Sprintf(`{ user(id: %q) { posts(first: 100) { nodes { content } } } }`, b.userID), ""},
		{"100 comments", fmt.Sprintf(`{ post(id: %q) { comments(first: 100) { nodes { content } } } }`, post), ""},
		{"20 comments", fmt.Sprintf(`{ post(id: %q) { comments(first: 20) { nodes { content } } } }`, post), ""},
		{"recent comments of 100", `{ feed(first: 100) { nodes { recentComments { content } } } }`, ""},
		{"a content", fmt.Sprintf(`{ post(id: %q) { content } }`, post), ""},
		{"25 contents", fmt.Sprintf(`{ node(id: %q) { ... on User { posts(first: 25) { nodes { title content } } } } }`, b.userID), ""},
		{"25 likes", repeat(25, fmt.Sprintf(`likePost(input: {postId: %q}) { post { title } }`, post)), ""},
		{"24 comments", repeat(24, fmt.Sprintf(`createComment(input: {postId: %q, content: $text}) { comment { id } }`, post)), comment},
		{"a comment", repeat(1, fmt.Sprintf(`createComment(input: {postId: %q, content: $text}) { comment { id } }`, post)), comment},
		{"an edit of a comment", repeat(1, fmt.Sprintf(`updateComment(input: {id: %q, content: $text}) { comment { id } }`, last)), comment[4:]},
		{"a deletion of a comment", repeat(1, fmt.Sprintf(`deleteComment(input: {id: %q}) { comment { id } }`, last)), ""},
		{"30 posts", repeat(30, `createPost(input: {title: "New", content: $text}) { post { id } }`), content},
		{"a post", repeat(1, `createPost(input: {title: "New", content: $text}) { post { id } }`), content},
		{"an edit", repeat(1, fmt.Sprintf(`updatePost(input: {id: %q, content: $text}) { post { id } }`, post)), content[1:] + "."},
		{"30 titles", repeat(30, fmt.Sprintf(`updatePost(input: {id: %q, title: "NUMBER"}) { post { id } }`, post)), ""},
		{"a deletion", repeat(1, fmt.Sprintf(`deletePost(input: {id: %q}) { post { id content } }`, post)), ""},
	} {
		var variables apitest.Variables
		if o.text == "" {
			o.document = strings.Replace(o.document, `($text: String! = "")`, "", 1)
		} else {
			variables = apitest.Variables{"text": o.text}
		}
		answer, err := b.viewer.Send(o.document, variables)
		if err != nil {
			t.Fatal(err)
		}
		cosmos := answer.Extensions.Cosmos
		largest := 0.0
		for _, r := range cosmos.Requests {
			largest = max(largest, r.RequestCharge)
		}
		errors := map[string]int{}
		for _, e := range answer.Errors {
			errors[e.Extensions.Code]++
		}
		t.Logf("%-35s price %7.2f charged %8.2f in %d requests, largest %.2f, errors %v", o.name, cosmos.Estimate, cosmos.RequestCharge, len(cosmos.Requests), largest, errors)
		most := max(3*cosmos.Estimate, 2*limit+largest) // here, the fields that read wait for each other
		if cosmos.RequestCharge > most || largest > limit {
			t.Errorf("%s: the price is %.2f RU, the charge %.2f RU, that of one request %.2f RU", o.name, cosmos.Estimate, cosmos.RequestCharge, largest)
		}
	}
}
