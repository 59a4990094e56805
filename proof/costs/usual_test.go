//go:build ci

package costs

import (
	"fmt"
	"strings"
	"testing"
)

// usualQuery is a query that a typical page of a client sends.
type usualQuery struct {
	page, query string
	isRejected  bool // for its price
}

const (
	usualPost    = `id title excerpt commentCount likeCount creationDate viewerHasLiked author { id username }`
	usualComment = `id content creationDate author { id username }`
)

func (b *blogUnderTest) usualQueries() []usualQuery {
	post := fmt.Sprintf(`post(id: %q)`, b.postID)
	return []usualQuery{
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

// TestPricesOfUsualQueries compares docs/costs.md with the prices of usual queries. The default
// limit must allow all queries except the last.
func TestPricesOfUsualQueries(t *testing.T) {
	b := newBlog(t)
	var table strings.Builder
	table.WriteString("| Query | Price in RU |\n|---|---|\n")
	for _, u := range b.usualQueries() {
		got, err := b.viewer.Send(u.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		suffix := ""
		switch {
		case len(got.Errors) == 0 && !u.isRejected:
		case len(got.Errors) == 1 && u.isRejected && got.Errors[0].Extensions.Code == "COST_LIMIT_EXCEEDED":
			suffix = ": rejected"
		default:
			t.Errorf("%s: %v", u.page, got.Errors)
		}
		if cosmos := got.Extensions.Cosmos; cosmos.RequestCharge > cosmos.Estimate {
			t.Errorf("%s has a price of %.2f RU and was charged %.2f RU", u.page, cosmos.Estimate, cosmos.RequestCharge)
		}
		fmt.Fprintf(&table, "| %s | %.2f%s |\n", u.page, got.Extensions.Cosmos.Estimate, suffix)
	}
	compareSection(t, costsPath, "usual-queries", table.String())
}
