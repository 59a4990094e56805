package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/blog"
	"cosmosblog/graph/model"
)

// pageKey identifies a page of a list.
type pageKey struct {
	list  model.List
	first int
	after string // empty for the first page
	order blog.CommentOrder
}

// pages loads each page of a list once.
type pages[T any] = loader[pageKey, blog.Page[T]]

// listSource reads the pages of a list.
type listSource[T any] struct {
	list  model.List
	pages *pages[T]
	order blog.CommentOrder // of a list of comments
	// exists reports whether the list's user or post exists, and how many elements the list has, if
	// that is known. If it does not exist, the list is empty. nil means that the list always exists.
	exists func(ctx context.Context) (total int, exists bool, err error)
	read   func(ctx context.Context, page blog.PageRequest) (blog.Page[T], error)
}

// connection returns the page for the arguments of a connection field. Fields with equal
// arguments share one read. Errors: BAD_USER_INPUT for invalid arguments, and those of the
// source.
func connection[T any](ctx context.Context, s listSource[T], first *int, after *string) (*model.Connection[T], error) {
	request, err := s.list.PageRequest(first, after)
	if err != nil {
		return nil, err
	}
	request.Order = s.order
	if request.First == 0 && !selectsHasNextPage(ctx) {
		page, err := s.empty(ctx)
		return &model.Connection[T]{List: s.list, Page: page, After: after != nil}, err
	}
	key := pageKey{list: s.list, first: request.First, order: s.order}
	if after != nil {
		key.after = *after
	}
	page, _, err := s.pages.load(ctx, key, nil, func(ctx context.Context, _ []pageKey) (map[pageKey]blog.Page[T], error) {
		page, err := s.fetch(ctx, request)
		return map[pageKey]blog.Page[T]{key: page}, err
	})
	if err != nil {
		return nil, err
	}
	return &model.Connection[T]{List: s.list, Page: page, After: after != nil}, nil
}

// empty returns a page without elements. It reads only the number of all elements, if that is
// selected.
func (s listSource[T]) empty(ctx context.Context) (page blog.Page[T], err error) {
	if s.exists != nil && len(selected(ctx, "totalCount")) > 0 {
		page.Total, _, err = s.exists(ctx)
	}
	return page, err
}

// selectsHasNextPage reports whether PageInfo.hasNextPage of the connection that the field of ctx
// returns is selected.
func selectsHasNextPage(ctx context.Context) bool {
	operation := graphql.GetOperationContext(ctx)
	return slices.ContainsFunc(selected(ctx, "pageInfo"), func(info graphql.CollectedField) bool {
		fields := graphql.CollectFields(operation, info.Selections, []string{"PageInfo"})
		return slices.ContainsFunc(fields, func(f graphql.CollectedField) bool { return f.Name == "hasNextPage" })
	})
}

// selected returns the selections of a field of the object that the field of ctx returns, one for
// each alias.
func selected(ctx context.Context, name string) []graphql.CollectedField {
	field := graphql.GetFieldContext(ctx).Field
	fields := graphql.CollectFields(graphql.GetOperationContext(ctx), field.Selections, []string{field.Definition.Type.Name()})
	return slices.DeleteFunc(slices.Clone(fields), func(f graphql.CollectedField) bool { return f.Name != name })
}

// fetch reads a page if the list's user or post exists.
func (s listSource[T]) fetch(ctx context.Context, request blog.PageRequest) (page blog.Page[T], err error) {
	total := 0
	if s.exists != nil {
		var exists bool
		if total, exists, err = s.exists(ctx); err != nil || !exists {
			return page, err
		}
	}
	err = scopeFrom(ctx).read(ctx, max(1, request.First), func() (bytes int, err error) {
		page, err = s.read(ctx, request)
		page = pageWithOwnName(ctx, page)
		for _, element := range page.Items {
			bytes += contentBytes(element)
		}
		return bytes, err
	})
	page.Total = total
	return page, err
}
