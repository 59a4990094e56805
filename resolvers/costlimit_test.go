package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/httpapi"
	"cosmosblog/internal/limits"
	"cosmosblog/resolvers"
)

// grant makes the server grant other limits.
func (s *server) grant(l limits.Limits) {
	s.handler = httpapi.New(httpapi.Options{
		Resolvers:   resolvers.New(s.store, resolvers.Options{Diagnostics: true, Limits: l}),
		Verifier:    subjects{},
		Development: true,
		Limits:      l,
	})
}

// What is too dear is refused before anything of it runs, with what a person and a program need to make it cheaper.
func TestCostLimit(t *testing.T) {
	s := newServer(t)
	ann := seedLists(s)
	r := ann.send("{\n viewer { id }\n feed(first: 100) { nodes { said: comments(first: 50) { nodes { id } } } }\n}")
	if len(r.Errors) != 1 || r.Data != nil || len(r.Extensions.Cosmos.Requests) != 0 {
		t.Fatalf("got %v and %v, after the requests %v", r.Errors, r.Data, r.Extensions.Cosmos.Requests)
	}
	const price, dearest = 1 + 2.5 + 100*0.19 + 2.3 + 100*0.37 + 100*(2.5+50*0.15), 100 * (2.5 + 50*0.15)
	got := r.Errors[0]
	if e := got.Extensions; e["code"] != "COST_LIMIT_EXCEEDED" || e["price"] != price || e["limit"] != 500.0 || e["field"] != "Post.comments" {
		t.Errorf("extensions: %v", e)
	}
	for _, part := range []string{fmt.Sprintf("%.2f RU", price), "500 RU", "`Post.comments`", fmt.Sprintf("%.2f RU", float64(dearest)), "`first`"} {
		if !strings.Contains(got.Message, part) {
			t.Errorf("%q is not in %q", part, got.Message)
		}
	}
	if fmt.Sprint(got.Locations) != "[{3 29}]" {
		t.Errorf("the dearest field is at %v", got.Locations)
	}
	if r.Extensions.Cosmos.Estimate != price {
		t.Errorf("the estimate is %g", r.Extensions.Cosmos.Estimate)
	}
}

// A mutation that is too dear changes nothing.
func TestCostLimitOfMutations(t *testing.T) {
	s := newServer(t)
	ann := seedLists(s)
	var likes strings.Builder
	for i := range 30 {
		fmt.Fprintf(&likes, "a%d:likePost(input:{postId:$p}){post{likeCount}} ", i)
	}
	post := ann.ask(`{feed(first:1){nodes{id}}}`).text("feed.nodes.0.id")
	ann.refused(blog.CostLimitExceeded, `mutation($p:ID!){`+likes.String()+`}`, "p", post)
	ann.ask(`query($p:ID!){post(id:$p){likeCount}}`, "p", post).is("post.likeCount", 0)
}

func TestCostLimitIsASetting(t *testing.T) {
	s := newServer(t)
	const query = `{feed(first:100){nodes{comments{nodes{id}}}}}`
	limit := limits.Default()
	limit.Cost = 0
	s.grant(limit)
	s.anonymous().ask(query)
	limit.Cost = 1
	s.grant(limit)
	s.anonymous().ask(`{viewer{id}}`) // as dear as it may be
	s.anonymous().refused(blog.CostLimitExceeded, `{post(id:"x"){id}}`)
	limit.Cost, limit.Elements = 0, 50
	s.grant(limit)
	s.anonymous().ask(`{feed(first:50){nodes{id}}}`)
	if message := s.anonymous().refused(blog.CostLimitExceeded, `{feed(first:26){nodes{id}} b:feed(first:25){nodes{id}}}`); !strings.Contains(message, "50 elements") {
		t.Error(message)
	}
}

// An answer tells, where it may, what it was held to beside what it cost.
func TestEstimate(t *testing.T) {
	s := newServer(t)
	ann := seedLists(s)
	r := ann.ask(`{feed(first:4){nodes{viewerHasLiked content}}}`).Extensions.Cosmos
	const estimate = 2.5 + 4*0.19 + 2.3 + 4*0.14 + 2.3 + 4*0.37
	if fmt.Sprintf("%.2f", r.Estimate) != fmt.Sprintf("%.2f", estimate) || r.RequestCharge <= 0 || r.RequestCharge > estimate {
		t.Errorf("the estimate is %g, the charge %g", r.Estimate, r.RequestCharge)
	}
}

// A short query of fragments within fragments asks for a million fields; it is refused at once, whatever may be spent.
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
	s.grant(limit)
	if message := s.anonymous().refused(blog.CostLimitExceeded, query.String()); !strings.Contains(message, "10000 fields") {
		t.Error(message)
	}
}

// A condition that is given as null would make gqlgen panic.
func TestConditionThatIsNull(t *testing.T) {
	s := newServer(t)
	const query = `query($y:Boolean=true){viewer{id @include(if:$y)} ...F @skip(if:$y)} fragment F on Query{feed{nodes{id}}}`
	s.anonymous().ask(query)
	s.anonymous().refused(blog.BadUserInput, query, "y", nil)
}
