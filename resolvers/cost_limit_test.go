package resolvers_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
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
	const price, mostExpensive = 1 + 2.7 + 100*0.33 + 2.3 + 100*0.52 + 100*(2.5+50*0.16), 100 * (2.5 + 50*0.16)
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
	const estimate = 2.7 + 4*0.33 + 2.3 + 4*0.14 + 2.3 + 4*0.52
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

// withCharge returns an engine whose answers to requests that match have another charge.
func withCharge(engine http.Handler, charge string, matches func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		engine.ServeHTTP(recorder, r)
		maps.Copy(w.Header(), recorder.Header())
		if matches(r) {
			w.Header().Set("X-Ms-Request-Charge", charge)
		}
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	})
}

// Mutations can cost more than their price. After twice the limit, the others of the operation are
// not executed. Those before keep their results.
func TestChargeLimitOfMutations(t *testing.T) {
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		return withCharge(engine, "100", func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/sprocs/deleteComment") })
	})
	ann := s.user("ann")
	post := ann.ask(`mutation{createPost(input:{title:"A title",content:"Text"}){post{id}}}`).text("createPost.post.id")
	const deletions, executed = 5, 3
	var document strings.Builder
	for i := range deletions {
		id := ann.ask(`mutation($p:ID!){createComment(input:{postId:$p,content:"Text"}){comment{id}}}`, "p", post).text("createComment.comment.id")
		fmt.Fprintf(&document, "a%d:deleteComment(input:{id:%q}){post{id}} ", i, id)
	}
	limit := limits.Default()
	limit.Cost = 130
	s.setLimits(limit)
	r := ann.send(`mutation{` + document.String() + `}`)
	left := int(ann.ask(`query($p:ID!){post(id:$p){commentCount}}`, "p", post).number("post.commentCount"))
	if left != deletions-executed || len(r.Errors) != left {
		t.Errorf("%d comments are left after %g RU, with errors %v", left, r.Extensions.Cosmos.RequestCharge, r.Errors)
	}
	for _, e := range r.Errors {
		if e.Extensions["code"] != "COST_LIMIT_EXCEEDED" || !strings.Contains(e.Message, "was not executed") || len(e.Path) != 1 || r.Data[e.Path[0].(string)] != nil {
			t.Errorf("got %+v", e)
		}
	}
}

// A query that was charged twice the limit reads nothing more. The fields that it has read stay.
func TestChargeLimitOfQueries(t *testing.T) {
	var expensive atomic.Bool
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		return withCharge(engine, "1000.01", func(r *http.Request) bool {
			return expensive.Load() && strings.HasSuffix(r.URL.Path, "/colls/feed/docs")
		})
	})
	createLists(s)
	expensive.Store(true)
	r := s.anonymous().send(`{feed(first:1){nodes{title comments{nodes{id}} content}}}`)
	if len(r.Errors) != 2 || len(r.Extensions.Cosmos.Requests) != 1 || r.text("feed.nodes.0.title") == "" {
		t.Fatalf("got %v with %v after %v", r.Data, r.Errors, r.Extensions.Cosmos.Requests)
	}
	for _, e := range r.Errors {
		if e.Extensions["code"] != "COST_LIMIT_EXCEEDED" || !strings.Contains(e.Message, "was charged 1000 RU") {
			t.Errorf("got %+v", e)
		}
	}
	limit := limits.Default()
	limit.Cost = 0
	s.setLimits(limit)
	if r := s.anonymous().send(`{feed(first:1){nodes{title comments{nodes{id}}}}}`); len(r.Errors) > 0 {
		t.Errorf("without a limit: %v", r.Errors)
	}
}

// Long contents of a list are read in several requests, none of which is charged more than the
// limit. After twice the limit, the other contents are not read.
func TestChargeLimitOfContents(t *testing.T) {
	const posts = 12
	s := newServerVia(t, func(engine http.Handler) http.Handler { return engine })
	ann := s.user("ann")
	text := strings.Repeat("word ", 50<<10)
	for i := range posts {
		s.project(ann.post(fmt.Sprint("Post ", i), text))
	}
	const query = `{feed(first:12){nodes{title content}}}`
	if r := ann.send(query); len(r.Errors) > 0 || r.Extensions.Cosmos.RequestCharge < 400 {
		t.Fatalf("within the limit: %v after %g RU", r.Errors, r.Extensions.Cosmos.RequestCharge)
	}
	limit := limits.Default()
	limit.Cost = 100
	s.setLimits(limit)
	r := ann.send(query)
	if n := len(r.Errors); n < 3 || n > posts-3 {
		t.Errorf("%d contents were not read", n)
	}
	for _, e := range r.Errors {
		if e.Extensions["code"] != "COST_LIMIT_EXCEEDED" {
			t.Errorf("got %+v", e)
		}
	}
	if charged := r.Extensions.Cosmos.RequestCharge; charged < 200 || charged > 300 {
		t.Errorf("%g RU were charged", charged)
	}
	for _, request := range r.Extensions.Cosmos.Requests {
		if request.RequestCharge > 100 {
			t.Errorf("a request was charged %g RU", request.RequestCharge)
		}
	}
}
