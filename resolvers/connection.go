package resolvers

import (
	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// connection reads the page that the arguments ask for. Error: BAD_USER_INPUT for the arguments, before anything is
// read, and those of read.
func connection[T any](list model.List, first *int, after *string, read func(blog.PageRequest) (blog.Page[T], error)) (*model.Connection[T], error) {
	request, err := list.PageRequest(first, after)
	if err != nil {
		return nil, err
	}
	page, err := read(request)
	if err != nil {
		return nil, err
	}
	return &model.Connection[T]{List: list, Page: page, After: after != nil}, nil
}
