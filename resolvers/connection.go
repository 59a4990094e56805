package resolvers

import (
	"context"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// pageKey names a page of a list.
type pageKey struct {
	list  model.List
	first int
	after string // empty for the beginning
}

// pages are pages of lists, each read once.
type pages[T any] = loader[pageKey, blog.Page[T]]

// source is where the pages of a list come from.
type source[T any] struct {
	list  model.List
	pages *pages[T]
	// there tells whether the list's user or post is there; the list is empty where not. Nil where there is always a list.
	there func(ctx context.Context) (bool, error)
	read  func(ctx context.Context, page blog.PageRequest) (blog.Page[T], error)
}

// connection gives the page that the arguments ask for. It is read once, however many fields ask for it. Errors:
// BAD_USER_INPUT, before anything is read, and those of the source.
func connection[T any](ctx context.Context, s source[T], first *int, after *string) (*model.Connection[T], error) {
	request, err := s.list.PageRequest(first, after)
	if err != nil {
		return nil, err
	}
	key := pageKey{list: s.list, first: request.First}
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

// fetch reads a page, after the user or post that it belongs to.
func (s source[T]) fetch(ctx context.Context, request blog.PageRequest) (page blog.Page[T], err error) {
	if s.there != nil {
		if there, err := s.there(ctx); err != nil || !there {
			return page, err
		}
	}
	err = scopeOf(ctx).read(ctx, request.First, func() (bytes int, err error) {
		page, err = s.read(ctx, request)
		for _, element := range page.Items {
			bytes += contentBytes(element)
		}
		return bytes, err
	})
	return page, err
}
