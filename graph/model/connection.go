package model

import "cosmosblog/blog"

// Node is an object with a global id.
type Node interface {
	// Ref returns the reference that the id encodes.
	Ref() blog.Ref
}

// Connection is one page of a list in Relay's form. Edges and cursors are built on demand.
type Connection[T any] struct {
	List List
	Page blog.Page[T]
	// After reports whether the page was requested with the argument `after`.
	After bool
}

// SharedText returns the text of the page that requests share, with the key of a numbered
// selection. It returns nil if the page is not shared.
func (c *Connection[T]) SharedText(selection uint64) (*blog.PageText, blog.TextKey) {
	key := blog.TextKey{Selection: selection, After: c.After, HasNextPage: c.Page.HasNextPage, Total: c.Page.Total}
	if len(c.Page.Positions) > 0 {
		key.Rank = c.Page.Positions[0].Rank
	}
	return c.Page.Text, key
}

// The connections of the schema.
type (
	PostConnection    = Connection[*blog.Post]
	CommentConnection = Connection[*blog.Comment]
	LikeConnection    = Connection[*blog.Like]
)

// Edge is one element of a connection.
type Edge[T any] struct {
	Node     T
	list     List
	position blog.Position
}

// The edges of the schema.
type (
	PostEdge    = Edge[*blog.Post]
	CommentEdge = Edge[*blog.Comment]
	LikeEdge    = Edge[*blog.Like]
)

// PageInfo is the position of a page in its list.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string // nil on an empty page
	EndCursor       *string // nil on an empty page
}

// Nodes returns the elements without cursors.
func (c Connection[T]) Nodes() []T { return c.Page.Items }

// Edges returns the elements with their cursors.
func (c Connection[T]) Edges() []Edge[T] {
	edges := make([]Edge[T], len(c.Page.Items))
	for i, item := range c.Page.Items {
		edges[i] = Edge[T]{Node: item, list: c.List, position: c.Page.Positions[i]}
	}
	return edges
}

// TotalCount returns the number of elements of the whole list.
func (c Connection[T]) TotalCount() int { return c.Page.Total }

// PageInfo returns the position of the page in its list.
func (c Connection[T]) PageInfo() PageInfo {
	info := PageInfo{HasNextPage: c.Page.HasNextPage, HasPreviousPage: c.After}
	if n := len(c.Page.Positions); n > 0 {
		start, end := c.List.Cursor(c.Page.Positions[0]), c.List.Cursor(c.Page.Positions[n-1])
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// Cursor returns the element's position in its list.
func (e Edge[T]) Cursor() string { return e.list.Cursor(e.position) }
