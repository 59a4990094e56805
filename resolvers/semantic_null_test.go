package resolvers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"cosmosblog/graph"
)

const semanticNonNull = "semanticNonNull"

var apiSchema = graph.NewExecutableSchema(graph.Config{}).Schema()

// unexplainedNulls returns the paths at which an answer is null without an error, although the
// schema says that this does not happen (@semanticNonNull). Every answer of these tests is checked
// by it. It returns none for an answer to an invalid query.
func unexplainedNulls(body string, r reply) []string {
	var request struct{ Query, OperationName string }
	if err := json.Unmarshal([]byte(body), &request); err != nil || r.Data == nil {
		return nil
	}
	query, errs := gqlparser.LoadQueryWithRules(apiSchema, request.Query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil
	}
	var failed []string // paths of errors
	for _, e := range r.Errors {
		failed = append(failed, fmt.Sprint(e.Path))
	}
	w := nullWalk{failed: failed}
	w.object(query.Operations.ForName(request.OperationName).SelectionSet, r.Data, nil)
	return w.found
}

type nullWalk struct{ failed, found []string }

func (w *nullWalk) object(set ast.SelectionSet, data map[string]any, path []any) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			if value, ok := data[s.Alias]; ok { // else skipped, or of another type
				w.value(s, value, append(slices.Clone(path), s.Alias))
			}
		case *ast.InlineFragment:
			w.object(s.SelectionSet, data, path)
		case *ast.FragmentSpread:
			w.object(s.Definition.SelectionSet, data, path)
		}
	}
}

func (w *nullWalk) value(field *ast.Field, value any, path []any) {
	switch v := value.(type) {
	case nil:
		at := fmt.Sprint(path)
		isFailed := slices.ContainsFunc(w.failed, func(other string) bool {
			return other == at || strings.HasPrefix(other, strings.TrimSuffix(at, "]")+" ")
		})
		isElement := fmt.Sprint(path[len(path)-1]) != field.Alias
		if !isFailed && !isElement && field.Definition.Directives.ForName(semanticNonNull) != nil {
			w.found = append(w.found, at)
		}
	case map[string]any:
		w.object(field.SelectionSet, v, path)
	case []any:
		for i, element := range v {
			w.value(field, element, append(slices.Clone(path), i))
		}
	}
}

// Lists of a blog without posts are empty, not null.
func TestListsOfEmptyBlog(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	r := ann.ask(`{
		tags { name }
		archiveMonths { month }
		feed { edges { cursor } nodes { id } }
		tag(name: "go") { posts { nodes { id } } }
		viewer { posts { nodes { id } } }
	}`)
	for _, path := range []string{"tags", "archiveMonths", "feed.edges", "feed.nodes", "tag.posts.nodes", "viewer.posts.nodes"} {
		r.is(path+".#", 0)
	}
}

// The check of all answers finds a null without an error, and accepts one with an error.
func TestUnexplainedNullsAreFound(t *testing.T) {
	body := `{"query":"{ feed { nodes { ...Counts title updatedDate } } nodes(ids: []) { id } } fragment Counts on Post { likes: likeCount }"}`
	for answer, want := range map[string]string{
		`{"data":{"feed":null}}`:                                                                 "[[feed]]",
		`{"data":{"feed":null},"errors":[{"path":["feed"]}]}`:                                    "[]",
		`{"data":{"feed":null},"errors":[{"path":["feed","nodes",1]}]}`:                          "[]",
		`{"data":{"feed":{"nodes":[{"likes":1,"updatedDate":null},{"likes":null}]}}}`:            "[[feed nodes 1 likes]]",
		`{"data":{"feed":{"nodes":[{},{"likes":null}]}},"errors":[{"path":["feed","nodes",0]}]}`: "[[feed nodes 1 likes]]",
		`{"data":{"nodes":[null]}}`:                                                              "[]",
	} {
		var r reply
		if err := json.Unmarshal([]byte(answer), &r); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(unexplainedNulls(body, r)); got != want {
			t.Errorf("%s: got %s, want %s", answer, got, want)
		}
	}
}
