package main

import (
	"fmt"
	"strings"
	"testing"
)

// usual is what pages of a client ask for.
type usual struct {
	page, query string
	tooDear     bool
}

const (
	usualPost    = `id title excerpt commentCount likeCount creationDate viewerHasLiked author { id username }`
	usualComment = `id content creationDate author { id username }`
)

func (b *blogUnderTest) usualQueries() []usual {
	post := fmt.Sprintf(`post(id: %q)`, b.postID)
	return []usual{
		{"the feed, 20 posts, each with `viewerHasLiked`", `{ viewer { id username } feed { nodes { ` + usualPost + ` } pageInfo { hasNextPage endCursor } } }`, false},
		{"the feed, with the whole texts", `{ feed { nodes { ` + usualPost + ` content } } }`, false},
		{"the feed, with 3 comments of each post", `{ feed { nodes { ` + usualPost + ` comments(first: 3) { nodes { ` + usualComment + ` } } } } }`, false},
		{"the feed, with 20 comments of each post", `{ feed { nodes { ` + usualPost + ` comments { nodes { ` + usualComment + ` } } } } }`, false},
		{"the feed, all 100 posts", `{ feed(first: 100) { nodes { ` + usualPost + ` } } }`, false},
		{"the feed, all 100 posts, with 3 comments of each", `{ feed(first: 100) { nodes { ` + usualPost + ` comments(first: 3) { nodes { ` + usualComment + ` } } } } }`, false},
		{"a post, with 20 comments and 20 likes", `{ ` + post + ` { content ` + usualPost + ` comments { nodes { ` + usualComment + ` } } likes { nodes { user { id username } } } } }`, false},
		{"100 comments of a post", `{ ` + post + ` { comments(first: 100) { nodes { ` + usualComment + ` } } } }`, false},
		{"a user with 20 posts, by username", `{ userByUsername(username: "author") { id username creationDate postCount posts { nodes { ` + usualPost + ` } } } }`, false},
		{"the feed, all 100 posts, with 20 comments of each", `{ feed(first: 100) { nodes { ` + usualPost + ` comments { nodes { ` + usualComment + ` } } } } }`, true},
	}
}

// TestPricesOfUsualQueries holds the README to what usual queries are priced at, and the limit to letting them pass.
func TestPricesOfUsualQueries(t *testing.T) {
	b := newBlog(t)
	var table strings.Builder
	table.WriteString("| Query | Price in RU |\n|---|---|\n")
	for _, u := range b.usualQueries() {
		got, err := b.viewer.send(u.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		refused := ""
		switch {
		case len(got.Errors) == 0 && !u.tooDear:
		case len(got.Errors) == 1 && u.tooDear && got.Errors[0].Extensions.Code == "COST_LIMIT_EXCEEDED":
			refused = ": refused"
		default:
			t.Errorf("%s: %v", u.page, got.Errors)
		}
		if cosmos := got.Extensions.Cosmos; cosmos.RequestCharge > cosmos.Estimate {
			t.Errorf("%s is priced at %.2f RU and was charged %.2f", u.page, cosmos.Estimate, cosmos.RequestCharge)
		}
		fmt.Fprintf(&table, "| %s | %.2f%s |\n", u.page, got.Extensions.Cosmos.Estimate, refused)
	}
	if got := section(t, "usual-queries", table.String()); got != table.String() {
		t.Errorf("the README's table is not what was priced; go test -run %s -update writes it:\n%s", t.Name(), table.String())
	}
}

// What is set holds in the running program.
func TestCostLimitOfAServer(t *testing.T) {
	const query = `{ feed(first: 1) { nodes { id } } }`
	dear := serveInProcess(t, map[string]string{"COSMOSBLOG_COST_LIMIT": "2"}, "--data", t.TempDir())
	got, err := dear.send(query, nil)
	if err != nil || len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "COST_LIMIT_EXCEEDED" {
		t.Errorf("a limit of 2 RU: %+v, %v", got, err)
	}
	serveInProcess(t, map[string]string{"COSMOSBLOG_COST_LIMIT": "2"}, "--data", t.TempDir(), "--cost-limit", "3").ask(t, query, nil, nil)
}
