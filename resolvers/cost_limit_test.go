package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

// An operation above the cost limit is rejected before it runs. The error names the price, the
// limit and the most expensive field, for people and for programs.
func TestCostLimit(t *testing.T) {
	s := newServer(t)
	ann := createLists(s)
	r := ann.send("{\n viewer { id }\n feed(first: 100) { nodes { said: comments(first: 50) { nodes { id } } } }\n}")
	if len(r.Errors) != 1 || r.Data != nil || len(r.Extensions.Cosmos.Requests) != 0 {
		t.Fatalf("got %v with %v after %v", r.Errors, r.Data, r.Extensions.Cosmos.Requests)
	}
	const price, mostExpensive = 1 + 2.6 + 100*0.32 + 2.3 + 100*0.52 + 100*(2.5+50*0.15), 100 * (2.5 + 50*0.15)
	got := r.Errors[0]
	if e := got.Extensions; e["code"] != "COST_LIMIT_EXCEEDED" || e["price"] != price || e["limit"] != 500.0 || e["field"] != "Post.comments" {
		t.Errorf("extensions: %v", e)
	}
	for _, part := range []string{fmt.Sprintf("%.2f RU", price), "500 RU", "`Post.comments`", fmt.Sprintf("%.2f RU", float64(mostExpensive)), "`first`"} {
		if !strings.Contains(got.Message, part) {
			t.Errorf("%q is not in %q", part, got.Message)
		}
	}
	if fmt.Sprint(got.Locations) != "[{3 29}]" {
		t.Errorf("the most expensive field is at %v", got.Locations)
	}
	if r.Extensions.Cosmos.Estimate != price {
		t.Errorf("the estimate is %g", r.Extensions.Cosmos.Estimate)
	}
}

// A mutation above the cost limit changes nothing.
func TestCostLimitOfMutations(t *testing.T) {
	s := newServer(t)
	ann := createLists(s)
	var likes strings.Builder
	for i := range 30 {
		fmt.Fprintf(&likes, "a%d:likePost(input:{postId:$p}){post{likeCount}} ", i)
	}
	post := ann.ask(`{feed(first:1){nodes{id}}}`).text("feed.nodes.0.id")
	ann.rejected(blog.CostLimitExceeded, `mutation($p:ID!){`+likes.String()+`}`, "p", post)
	ann.ask(`query($p:ID!){post(id:$p){likeCount}}`, "p", post).is("post.likeCount", 0)
}

func TestCostLimitIsConfigurable(t *testing.T) {
	s := newServer(t)
	const query = `{feed(first:100){nodes{comments{nodes{id}}}}}`
	limit := limits.Default()
	limit.Cost = 0
	s.setLimits(limit)
	s.anonymous().ask(query)
	limit.Cost = 1
	s.setLimits(limit)
	s.anonymous().ask(`{viewer{id}}`) // costs exactly the limit
	s.anonymous().rejected(blog.CostLimitExceeded, `{post(id:"x"){id}}`)
	limit.Cost, limit.Elements = 0, 50
	s.setLimits(limit)
	s.anonymous().ask(`{feed(first:50){nodes{id}}}`)
	if message := s.anonymous().rejected(blog.LimitExceeded, `{feed(first:26){nodes{id}} b:feed(first:25){nodes{id}}}`); !strings.Contains(message, "50 elements") {
		t.Error(message)
	}
}

// The diagnostics contain the price as well as the charge.
func TestEstimate(t *testing.T) {
	s := newServer(t)
	ann := createLists(s)
	r := ann.ask(`{feed(first:4){nodes{viewerHasLiked content}}}`).Extensions.Cosmos
	const estimate = 2.6 + 4*0.32 + 2.3 + 4*0.14 + 2.3 + 4*0.52
	if fmt.Sprintf("%.2f", r.Estimate) != fmt.Sprintf("%.2f", estimate) || r.RequestCharge <= 0 || r.RequestCharge > estimate {
		t.Errorf("the estimate is %g, the charge %g", r.Estimate, r.RequestCharge)
	}
}

// A short query with nested fragments requests a million fields. It is rejected at once, even
// without a cost limit.
func TestTooManyFields(t *testing.T) {
	s := newServer(t)
	var query strings.Builder
	query.WriteString("{post(id:\"x\"){...A0}}")
	for i := range 3 {
		fmt.Fprintf(&query, "fragment A%d on Post{", i)
		for j := range 9 {
			fmt.Fprintf(&query, "a%d:comments(first:1){nodes{post{...A%d}}} ", j, i+1)
		}
		query.WriteString("}")
	}
	query.WriteString("fragment A3 on Post{ " + strings.Repeat("id title excerpt author{id} ", 3))
	for _, alias := range []string{"x", "y", "z"} {
		query.WriteString(alias + ":author{id username} ")
	}
	query.WriteString("}")
	limit := limits.Default()
	limit.Cost = 0
	s.setLimits(limit)
	if message := s.anonymous().rejected(blog.LimitExceeded, query.String()); !strings.Contains(message, "10000 fields") {
		t.Error(message)
	}
}

// A null condition is rejected, because gqlgen would panic on it.
func TestNullCondition(t *testing.T) {
	s := newServer(t)
	const query = `query($y:Boolean=true){viewer{id @include(if:$y)} ...F @skip(if:$y)} fragment F on Query{feed{nodes{id}}}`
	s.anonymous().ask(query)
	s.anonymous().rejected(blog.BadUserInput, query, "y", nil)
}
