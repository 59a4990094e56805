package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/blog"
	"cosmosblog/graph/model"
)

// enclosingList returns the elements of the innermost list around the context's field, or nil if
// there is none. Fields below the post of a comment or like, or below the previous post of a post,
// are in no list, because that post is not an element of the list.
func enclosingList(ctx context.Context) []model.Node {
	return enclosingListOf(scopeFrom(ctx), graphql.GetFieldContext(ctx))
}

func enclosingListOf(scope *scope, field *graphql.FieldContext) []model.Node {
	for ; field != nil; field = field.Parent {
		if field.Field.Field != nil && (field.Field.Name == "post" || field.Field.Name == "previousByAuthor") {
			return nil
		}
		switch result := field.Result.(type) {
		case []*blog.Comment:
			return recentComments(scope, field, result)
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
// Those of entries were read for the result.
func recentComments(scope *scope, field *graphql.FieldContext, result []*blog.Comment) (nodes []model.Node) {
	for _, node := range enclosingListOf(scope, field.Parent) {
		post, ok := node.(*blog.Post)
		if ok && !post.CountsLoaded() {
			post, ok = scope.posts.loaded(post.ID)
		}
		if ok && post != nil {
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

// siblingLists returns a function that lists the lists of the enclosing list of tags or months. For
// Post.tags, these are the tags of all posts of the list around the post.
func siblingLists(ctx context.Context) func() []blog.List {
	return func() (lists []blog.List) {
		for field := graphql.GetFieldContext(ctx); field != nil; field = field.Parent {
			switch result := field.Result.(type) {
			case []*blog.Month:
				return listsOf(result)
			case []*blog.Tag:
				for _, node := range enclosingListOf(scopeFrom(ctx), field.Parent) {
					if post, ok := node.(*blog.Post); ok {
						lists = append(lists, listsOf(post.TagList())...)
					}
				}
				return append(lists, listsOf(result)...)
			}
		}
		return nil
	}
}

func listsOf[T interface{ List() blog.List }](of []T) []blog.List {
	lists := make([]blog.List, len(of))
	for i, t := range of {
		lists[i] = t.List()
	}
	return lists
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
