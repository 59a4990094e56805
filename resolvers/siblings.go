package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// enclosingList returns the elements of the innermost list around the context's field, or nil if
// there is none. Fields below the post of a comment or like are in no list, because that post is
// not an element of the list.
func enclosingList(ctx context.Context) []model.Node {
	return enclosingListOf(graphql.GetFieldContext(ctx))
}

func enclosingListOf(field *graphql.FieldContext) []model.Node {
	for ; field != nil; field = field.Parent {
		if field.Field.Field != nil && field.Field.Name == "post" {
			return nil
		}
		switch result := field.Result.(type) {
		case []*blog.Comment:
			return recentComments(field, result)
		case *model.PostConnection:
			return asNodes(result.Page.Items)
		case *model.CommentConnection:
			return asNodes(result.Page.Items)
		case *model.LikeConnection:
			return asNodes(result.Page.Items)
		case []model.Node:
			return result
		}
	}
	return nil
}

// recentComments returns the recent comments of all posts of the list around a field
// Post.recentComments, whose result is given. If the post is in no list, it returns the result.
func recentComments(field *graphql.FieldContext, result []*blog.Comment) (nodes []model.Node) {
	for _, node := range enclosingListOf(field.Parent) {
		if post, ok := node.(*blog.Post); ok {
			nodes = append(nodes, asNodes(post.RecentComments)...)
		}
	}
	if nodes == nil {
		return asNodes(result)
	}
	return nodes
}

func asNodes[T model.Node](items []T) []model.Node {
	nodes := make([]model.Node, len(items))
	for i, item := range items {
		nodes[i] = item
	}
	return nodes
}

// siblingPosts returns a function that lists the posts of the enclosing list for which keep
// returns true, by id.
func siblingPosts(ctx context.Context, keep func(*blog.Post) bool) func() []string {
	return func() (ids []string) {
		for _, node := range enclosingList(ctx) {
			if post, ok := node.(*blog.Post); ok && keep(post) {
				ids = append(ids, post.ID)
			}
		}
		return ids
	}
}

// siblingComments returns a function that lists the comments of the enclosing list without content,
// by id.
func siblingComments(ctx context.Context) func() []blog.Ref {
	return func() (ids []blog.Ref) {
		for _, node := range enclosingList(ctx) {
			if comment, ok := node.(*blog.Comment); ok && !comment.ContentLoaded() {
				ids = append(ids, comment.Ref())
			}
		}
		return ids
	}
}

// siblingUsers returns a function that lists the users that the elements of the enclosing list
// refer to, by id.
func siblingUsers(ctx context.Context) func() []string {
	return func() (ids []string) {
		for _, node := range enclosingList(ctx) {
			switch node := node.(type) {
			case *blog.Post:
				ids = append(ids, node.Author.ID)
			case *blog.Comment:
				ids = append(ids, node.Author.ID)
			case *blog.Like:
				ids = append(ids, node.User.ID)
			}
		}
		return ids
	}
}
