package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// list gives the elements of the innermost list that the field of the context is in, and nil where it is in none. What is
// behind the post of a comment or like is in none: it is no sibling of anything that the elements have.
func list(ctx context.Context) []model.Node {
	for field := graphql.GetFieldContext(ctx); field != nil; field = field.Parent {
		if field.Field.Field != nil && field.Field.Name == "post" {
			return nil
		}
		switch result := field.Result.(type) {
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

func asNodes[T model.Node](items []T) []model.Node {
	nodes := make([]model.Node, len(items))
	for i, item := range items {
		nodes[i] = item
	}
	return nodes
}

// siblingPosts gives the ids of the posts beside the one that a field of the context belongs to.
func siblingPosts(ctx context.Context, keep func(*blog.Post) bool) func() []string {
	return func() (ids []string) {
		for _, node := range list(ctx) {
			if post, ok := node.(*blog.Post); ok && keep(post) {
				ids = append(ids, post.ID)
			}
		}
		return ids
	}
}

// siblingUsers gives the ids of the users whom the list names beside the one that a field of the context belongs to.
func siblingUsers(ctx context.Context) func() []string {
	return func() (ids []string) {
		for _, node := range list(ctx) {
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
