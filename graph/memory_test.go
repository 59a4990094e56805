package graph_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
)

// memory resolves the feed, the comments of every post and whether the viewer likes it. All other
// fields panic.
type memory struct {
	graph.ResolverRoot
	feed     func(ctx context.Context) *model.PostConnection
	comments *model.CommentConnection
}

func (m memory) Query() graph.QueryResolver   { return memoryQuery{memory: m} }
func (m memory) Post() graph.PostResolver     { return memoryPost{memory: m} }
func (memory) Comment() graph.CommentResolver { return memoryComment{} }

type memoryComment struct{ graph.CommentResolver }

func (memoryComment) Content(_ context.Context, comment *blog.Comment) (*string, error) {
	return &comment.Content, nil
}

type memoryQuery struct {
	graph.QueryResolver
	memory memory
}

func (q memoryQuery) Feed(ctx context.Context, _ *int, _ *string) (*model.PostConnection, error) {
	return q.memory.feed(ctx), nil
}

func (q memoryQuery) Post(ctx context.Context, _ blog.Ref) (*blog.Post, error) {
	return q.memory.feed(ctx).Page.Items[0], nil
}

type memoryPost struct {
	graph.PostResolver
	memory memory
}

func (p memoryPost) Comments(context.Context, *blog.Post, *int, *string, *blog.CommentOrder) (*model.CommentConnection, error) {
	return p.memory.comments, nil
}

func (memoryPost) CommentCount(_ context.Context, post *blog.Post) (*int, error) {
	return &post.CommentCount, nil
}

func (memoryPost) LikeCount(_ context.Context, post *blog.Post) (*int, error) {
	return &post.LikeCount, nil
}

func (memoryPost) RecentComments(_ context.Context, post *blog.Post) ([]*blog.Comment, error) {
	return post.RecentComments, nil
}

func (memoryPost) ViewerHasLiked(_ context.Context, post *blog.Post) (*bool, error) {
	return new(post.LikeCount%2 == 0), nil
}

// newMemory returns n posts, and n comments whose texts have the given number of bytes.
func newMemory(n, bytes int) memory {
	posts := &model.PostConnection{List: model.FeedList}
	comments := &model.CommentConnection{List: model.CommentsList("p_x")}
	author := &blog.User{ID: "u_" + strings.Repeat("a", 26), Username: "Ann"}
	for i := range n {
		position := blog.Position{CreationDate: blog.NewDateTime(time.Unix(int64(i), 0)), ID: fmt.Sprintf("p_%025d%c", i, 'a')}
		post := &blog.Post{ID: position.ID, Author: author, PostHead: blog.PostHead{Title: "A \"title\"", Excerpt: strings.Repeat("The beginning. ", 13)},
			CommentCount: i, LikeCount: i, RecentComments: []*blog.Comment{}, CreationDate: position.CreationDate, Version: 1}
		posts.Page.Items, posts.Page.Positions = append(posts.Page.Items, post), append(posts.Page.Positions, position)
		comment := &blog.Comment{ID: "c_" + position.ID[2:], Post: post, Author: author,
			Content: strings.Repeat("x", bytes), Excerpt: "The beginning.", CreationDate: position.CreationDate}
		if i < blog.MaxRecentComments {
			recent := *comment
			recent.Content = ""
			post.RecentComments = []*blog.Comment{&recent}
		}
		comments.Page.Items, comments.Page.Positions = append(comments.Page.Items, comment), append(comments.Page.Positions, position)
	}
	return memory{feed: func(context.Context) *model.PostConnection { return posts }, comments: comments}
}

// executed is the result of an operation.
type executed struct {
	data   string
	errors string
}

// newOperation returns a function that executes a document on resolvers.
func newOperation(t testing.TB, resolvers graph.ResolverRoot, document string) func(context.Context) executed {
	return newOperationWith(t, resolvers, document, nil)
}

// newOperationWith is newOperation with selections that all executions use. If nil, each execution
// has its own.
func newOperationWith(t testing.TB, resolvers graph.ResolverRoot, document string, s *graph.Selections) func(context.Context) executed {
	t.Helper()
	e := executor.New(graph.NewExecutableSchema(graph.Config{Resolvers: resolvers}))
	e.SetQueryCache(graphql.MapCache[*ast.QueryDocument]{})
	e.SetErrorPresenter(presentPath)
	return func(ctx context.Context) executed {
		ctx = graphql.StartOperationTrace(ctx)
		operation, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: document})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if s != nil {
			graph.SetSelections(operation, s)
		}
		next, ctx := e.DispatchOperation(ctx, operation)
		response := next(ctx)
		return executed{string(response.Data), response.Errors.Error()}
	}
}

const (
	feedDocument = `{ feed(first: 20) { nodes { id title excerpt author { id username } commentCount likeCount creationDate }
		pageInfo { hasNextPage endCursor } } }`
	likedDocument = `{ feed(first: 20) { nodes { id title excerpt author { id username } commentCount likeCount viewerHasLiked
		creationDate } pageInfo { hasNextPage endCursor } } }`
	commentsDocument = `{ post(id: "x") { comments(first: 20) { nodes { id content author { id username } creationDate updatedDate }
		pageInfo { hasNextPage endCursor } } } }`
)

// BenchmarkPlainFields executes documents on pages in memory, in turns: ten times with the plain
// fields resolved by gqlgen, and ten times with them appended. It reports the shortest times of one
// execution, and the allocations.
func BenchmarkPlainFields(b *testing.B) {
	documents := []struct{ name, document string }{
		{"feed", feedDocument}, {"feed with viewerHasLiked", likedDocument}, {"comments", commentsDocument},
	}
	for _, d := range documents {
		b.Run(d.name, func(b *testing.B) {
			operation := newOperation(b, newMemory(20, 300), d.document)
			execute := func() { operation(b.Context()) }
			appended, resolved := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				graph.WithoutPlainFields(func() { resolved = min(resolved, timeOf(execute)) })
				appended = min(appended, timeOf(execute))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(resolved.Nanoseconds())/1e3, "resolved-µs")
			b.ReportMetric(float64(appended.Nanoseconds())/1e3, "appended-µs")
			b.ReportMetric(testing.AllocsPerRun(100, execute), "appended-allocs")
			graph.WithoutPlainFields(func() { b.ReportMetric(testing.AllocsPerRun(100, execute), "resolved-allocs") })
		})
	}
}

// timeOf returns the mean time of ten executions.
func timeOf(execute func()) time.Duration {
	const times = 10
	begin := time.Now()
	for range times {
		execute()
	}
	return time.Since(begin) / times
}
