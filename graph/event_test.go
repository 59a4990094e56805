package graph_test

import (
	"context"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
)

// withoutContents fails to resolve Post.content.
type withoutContents struct{ memory }

func (w withoutContents) Post() graph.PostResolver { return postWithoutContent{w.memory.Post()} }

type postWithoutContent struct{ graph.PostResolver }

func (postWithoutContent) Content(context.Context, *blog.Post) (*string, error) {
	return nil, errDamage
}

// executeEvent executes a subscription on the value of an event.
func executeEvent(t *testing.T, resolvers graph.ResolverRoot, document string, value any) executed {
	t.Helper()
	schema := graph.NewExecutableSchema(graph.Config{Resolvers: resolvers})
	ctx := graphql.StartOperationTrace(t.Context())
	operation, errs := executor.New(schema).CreateOperationContext(ctx, &graphql.RawParams{Query: document})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	ctx = graphql.WithResponseContext(graphql.WithOperationContext(ctx, operation), presentPath, graphql.DefaultRecover)
	data := graph.ExecuteEvent(ctx, schema, value)
	return executed{string(data), graphql.GetErrors(ctx).Error()}
}

// The value of an event has the data and the errors of an equal field of Query.
func TestEventsAreExecutedLikeQueries(t *testing.T) {
	const selection = `
		{ n: title author { id username } viewerHasLiked content recentComments { excerpt } comments(first: 1) { nodes { content } } }`
	resolvers := withoutContents{newMemory(2, 10)}
	whole := resolvers.feed(t.Context()).Page.Items[1]
	orphan := *whole
	orphan.Author = nil
	for name, test := range map[string]struct {
		post *blog.Post
		has  []string
	}{
		"a post":           {whole, []string{`{"new":{"n":"A `, `"content":null`, `new.content: `}},
		"without a post":   {nil, []string{`{"new":null}`}},
		"without non-null": {&orphan, []string{`{"new":null}`, `new.author: `}},
	} {
		resolvers.feed = func(context.Context) *model.PostConnection {
			posts := new(model.PostConnection)
			posts.Page.Items = []*blog.Post{test.post}
			return posts
		}
		want := newOperation(t, resolvers, `{ new: post(id: "x") `+selection+`}`)(t.Context())
		got := executeEvent(t, resolvers, `subscription { new: postChanged(id: "x") `+selection+`}`, test.post)
		if got != want {
			t.Errorf("%s: got %q, the query has %q", name, got, want)
		}
		for _, has := range test.has {
			if !strings.Contains(got.data+got.errors, has) {
				t.Errorf("%s: %q lacks %s", name, got, has)
			}
		}
	}
}

// Each field of Subscription has the values of its type.
func TestEventsOfEachField(t *testing.T) {
	resolvers := newMemory(1, 10)
	post, comment := resolvers.feed(t.Context()).Edges()[0], resolvers.comments.Edges()[0]
	for document, test := range map[string]struct {
		value any
		want  string
	}{
		`subscription { postChanged(id: "x") { version } }`:               {post.Node, `{"postChanged":{"version":1}}`},
		`subscription { postPublished { node { version } } }`:             {&post, `{"postPublished":{"node":{"version":1}}}`},
		`subscription { commentAdded(postId: "x") { node { excerpt } } }`: {&comment, `{"commentAdded":{"node":{"excerpt":"The beginning."}}}`},
	} {
		if got := executeEvent(t, resolvers, document, test.value); got.data != test.want || got.errors != "" {
			t.Errorf("%s: got %q", document, got)
		}
	}
}

// presentPath presents an error with its path.
func presentPath(ctx context.Context, err error) *gqlerror.Error {
	return &gqlerror.Error{Message: graphql.GetPath(ctx).String() + ": " + err.Error()}
}
