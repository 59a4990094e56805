//go:build ci

package costs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/proof/apitest"
)

// cause is a mutation that causes background work. The document's %s is filled when it is executed.
type cause struct {
	name     string
	client   *apitest.Client
	document string
	arg      func() string // may be nil
}

// TestBackgroundPrices measures the background work of each mutation, and compares its price with
// what the projector is charged for it. It compares docs/costs.md with the figures.
func TestBackgroundPrices(t *testing.T) {
	b := newBlog(t)
	var got struct {
		CreatePost    struct{ Post struct{ ID string } }
		CreateComment struct{ Comment struct{ ID string } }
	}
	post := func() string { return got.CreatePost.Post.ID }
	var table strings.Builder
	fmt.Fprintf(&table, "| Mutation | of the projector | Price | Work |\n|---|---|---|---|\n")
	for _, c := range []cause{
		{"`createPost`", b.viewer, `createPost(input: {title: "New", content: "Text"}) { post { id } }`, nil},
		{"`updatePost`", b.viewer, `updatePost(input: {id: %q, title: "Another title"}) { post { id } }`, post},
		{"`createPost` with 5 tags", b.viewer, `createPost(input: {title: "New", content: "Text", tags: ["go", "a1", "b1", "c1", "d1"]}) { post { id } }`, nil},
		{"`updatePost` with 5 tags, title", b.viewer, `updatePost(input: {id: %q, title: "Another title"}) { post { id } }`, post},
		{"`updatePost`, 4 of 5 tags removed", b.viewer, `updatePost(input: {id: %q, tags: ["go"]}) { post { id } }`, post},
		{"`likePost`", b.viewer, `likePost(input: {postId: %q}) { post { id } }`, post},
		{"`likePost`, again", b.viewer, `likePost(input: {postId: %q}) { post { id } }`, post},
		{"`unlikePost`", b.viewer, `unlikePost(input: {postId: %q}) { post { id } }`, post},
		{"`createComment`", b.viewer, `createComment(input: {postId: %q, content: "Well said."}) { comment { id } }`, post},
		{"`updateComment`", b.viewer, `updateComment(input: {id: %q, content: "Well said!"}) { comment { id } }`,
			func() string { return got.CreateComment.Comment.ID }},
		{"`deleteComment`", b.viewer, `deleteComment(input: {id: %q}) { comment { id } }`, func() string { return got.CreateComment.Comment.ID }},
		{"`deletePost`", b.viewer, `deletePost(input: {id: %q}) { post { id } }`, post},
		{"`deletePost` with 30 comments, 25 likes, 5 tags", b.viewer, `deletePost(input: {id: %q}) { post { id } }`, func() string { return b.postID }},
		{"`createUser`", b.newcomer, `createUser(input: {username: "newcomer"}) { user { id } }`, nil},
		{"`updateUser`, the first", b.viewer, `updateUser(input: {username: "writer"}) { user { id } }`, nil},
		{"`updateUser`, the second", b.viewer, `updateUser(input: {username: "author"}) { user { id } }`, nil},
		{"`deleteUser` of 131 posts, 387 comments", b.viewer, `deleteUser(input: {username: "author"}) { user { id } }`, nil},
	} {
		document := "mutation { " + c.document + " }"
		if c.arg != nil {
			document = fmt.Sprintf(document, c.arg())
		}
		answer := c.client.Ask(t, document, nil, &got)
		if len(answer.Errors) > 0 {
			t.Fatalf("%s: %v", c.name, answer.Errors)
		}
		price, caused := 0.0, answer.Extensions.Budget.Caused
		for _, part := range caused {
			price += part
		}
		checkJoined(t, b, c)
		b.recorder.Take()
		for range 3 { // the passes of a sweep or deletion are apart
			b.settle()
			b.later += time.Hour
		}
		charge := b.backgroundCharge()
		work := strings.Join(slices.Sorted(maps.Keys(caused)), ", ")
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", c.name, rounded(charge), rounded(price), work)
		if price < charge || price > 3*charge+5 {
			t.Errorf("%s: the price of the background work is %.2f RU, and the projector was charged %.2f RU", c.name, price, charge)
		}
	}
	compareSection(t, costsPath, "background-work", table.String())
}

// rounded formats a charge. Those of sweeps and deletions vary a little, because other work runs
// between their steps.
func rounded(charge float64) string {
	switch {
	case charge < 1000:
		return fmt.Sprintf("%.2f", charge)
	case charge < 10_000:
		return fmt.Sprintf("about %.0f00", charge/100)
	}
	return fmt.Sprintf("about %.0f000", 10*math.Floor(charge/10_000))
}

// checkJoined renames the user again after a rename that no projector has recorded. The second one
// joins the sweep of the first, so its price is a part of it.
func checkJoined(t *testing.T, b *blogUnderTest, c cause) {
	t.Helper()
	if c.name != "`updateUser`, the second" {
		return
	}
	answer := c.client.Ask(t, `mutation { updateUser(input: {username: "scribe"}) { user { id } } }`, nil, nil)
	joined := answer.Extensions.Budget.Caused["sweep"]
	if joined < 1000 || joined > 3000 {
		t.Errorf("a rename that joins a sweep costs %.2f RU", joined)
	}
	c.client.Ask(t, c.mutation(), nil, nil)
}

func (c cause) mutation() string { return "mutation { " + c.document + " }" }
