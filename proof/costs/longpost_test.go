//go:build ci

package costs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/proof/apitest"
	"cosmosblog/store/schema"
)

var batchPost = request{"posts", "batch"}

// longPattern is an operation on two posts that differ in the size of their content only. The
// document's %[1]q is the post's id.
type longPattern struct {
	name, document string
	client         *apitest.Client
	short, long    []request
	excess         float64 // how much more the long post may cost, in RU; the rest is its text
}

// TestLongPostCosts measures operations on a short and on the longest post, with the work of the
// projector that follows from them. What does not read or write the content costs the same. It
// compares docs/costs.md with the figures.
func TestLongPostCosts(t *testing.T) {
	b := newBlog(t)
	text := strings.Repeat("word ", blog.MaxContentBytes/5+1)
	short := b.viewer.CreatePost(t, "A title", b.content)
	long := b.viewer.CreatePost(t, "A title", text[:blog.MaxContentBytes])
	b.settle()

	const small, whole = 0.05, 300
	mutation := func(text string) string { return `mutation { ` + text + ` }` }
	var table strings.Builder
	fmt.Fprintf(&table, "| Operation | 1 KB | of the projector | 256 KiB | of the projector |\n|---|---|---|---|---|\n")
	for _, p := range []longPattern{
		{"`post { title }`", `{ post(id: %[1]q) { title } }`, b.anonymous, []request{readPost}, []request{readPost}, small},
		{"`post { title content }`", `{ post(id: %[1]q) { title content } }`, b.anonymous, []request{readPost}, []request{readPost, readPost}, 26},
		{"`post { comments }`", `{ post(id: %[1]q) { comments { nodes { content } } } }`, b.anonymous, []request{readPost, queryPost}, []request{readPost, queryPost}, small},
		{"`likePost` (C4)", mutation(`likePost(input: {postId: %[1]q}) { post { likeCount } }`), b.viewer, []request{readUser, execute}, []request{readUser, execute}, small},
		{"`createComment` (C3)", mutation(`createComment(input: {postId: %[1]q, content: "Well said."}) { post { commentCount } }`), b.viewer,
			[]request{readUser, execute}, []request{readUser, execute}, small},
		{"`updatePost`, title only", mutation(`updatePost(input: {id: %[1]q, title: "Another title"}) { post { title } }`), b.viewer,
			[]request{readUser, readPost, patchPost}, []request{readUser, readPost, patchPost}, small},
		{"`updatePost`, to a content of 256 KiB", mutation(`updatePost(input: {id: %[1]q, content: "` + text[1:blog.MaxContentBytes+1] + `"}) { post { title } }`), b.viewer,
			[]request{readUser, readPost, batchPost}, []request{readUser, readPost, readPost, batchPost}, whole},
		{"`updatePost`, to one of 1 KB", mutation(`updatePost(input: {id: %[1]q, content: "` + text[:1024] + `"}) { post { title } }`), b.viewer,
			[]request{readUser, readPost, batchPost}, []request{readUser, readPost, batchPost}, small},
	} {
		fmt.Fprintf(&table, "| %s |", p.name)
		shortRU := b.measure(t, &table, p, short, p.short)
		longRU := b.measure(t, &table, p, long, p.long)
		table.WriteString("\n")
		if longRU > shortRU+p.excess {
			t.Errorf("%s costs %.2f RU on a long post, %.2f RU on a short one", p.name, longRU, shortRU)
		}
	}
	compareSection(t, costsPath, "long-posts", table.String())
	if schema.MaxInlineContent >= blog.MaxContentBytes {
		t.Error("no content is long")
	}
}

// measure executes a document on a post. It writes the charge, and that of the projector's work
// that follows, and returns their sum.
func (b *blogUnderTest) measure(t *testing.T, table *strings.Builder, p longPattern, postID string, want []request) float64 {
	t.Helper()
	b.recorder.Take()
	answer := p.client.Ask(t, fmt.Sprintf(p.document, postID), nil, nil)
	var got []request
	charge := 0.0
	for _, r := range answer.Extensions.Cosmos.Requests {
		got = append(got, request{r.Container, r.Operation})
		charge += r.RequestCharge
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s sent %v, want %v", p.name, got, want)
	}
	background := 0.0
	if strings.HasPrefix(p.document, "mutation") {
		b.recorder.Take()
		b.settle()
		background = b.backgroundCharge()
	}
	fmt.Fprintf(table, " %.2f | %.2f |", charge, background)
	return charge + background
}

// backgroundCharge returns the sum of the charges of the recorded requests, without those of idle
// feeds and leases.
func (b *blogUnderTest) backgroundCharge() float64 {
	sum := 0.0
	for _, r := range b.recorder.Take() {
		if r.Container == "leases" || r.Operation == "changeFeed" {
			continue
		}
		var charge float64
		fmt.Sscan(r.Charge, &charge)
		sum += charge
	}
	return sum
}
