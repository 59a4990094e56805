package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
)

// listing is the query of one kind of list, from the beginning and from a position.
//
// A position is said twice: as a range of creation dates, which an index can seek to, and exactly, with the id as the
// tie-break. The sort names the type, which is always the same, because only then the composite index serves filter
// and sort together. TOP rather than OFFSET LIMIT: the service stops at the last element and keeps no continuation, and
// nothing is skipped that would be charged.
//
// SELECT * rather than a list of properties: what no list needs (a post's content, a comment's hash) is either not on
// the item or small, and the items need not be put together anew.
type listing struct{ first, after string }

const (
	newestFirstOrder = ` ORDER BY c.type, c.creationDate DESC, c.id DESC`
	oldestFirstOrder = ` ORDER BY c.type, c.creationDate, c.id`

	afterNewest = ` AND c.creationDate <= @date AND (c.creationDate < @date OR c.id < @id)`
	afterOldest = ` AND c.creationDate >= @date AND (c.creationDate > @date OR c.id > @id)`

	livePostsFilter    = `SELECT TOP @n * FROM c WHERE c.type = 'post' AND c.deleted = false`
	liveCommentsFilter = `SELECT TOP @n * FROM c WHERE c.type = 'comment' AND c.deleted = false`
	likesFilter        = `SELECT TOP @n * FROM c WHERE c.type = 'like'`
)

// The lists: short copies of posts in users and in feed (Q3, Q6), comments (Q4) and likes (Q5) in posts.
var (
	livePosts = listing{
		first: livePostsFilter + newestFirstOrder,
		after: livePostsFilter + afterNewest + newestFirstOrder,
	}
	liveComments = listing{
		first: liveCommentsFilter + oldestFirstOrder,
		after: liveCommentsFilter + afterOldest + oldestFirstOrder,
	}
	allLikes = listing{
		first: likesFilter + newestFirstOrder,
		after: likesFilter + afterNewest + newestFirstOrder,
	}
)

// text gives the query for at most n elements, after a position where there is one, and its parameters.
func (l listing) text(n int, after *blog.Position) (string, []azcosmos.QueryParameter) {
	limit := azcosmos.QueryParameter{Name: "@n", Value: n}
	if after == nil {
		return l.first, []azcosmos.QueryParameter{limit}
	}
	return l.after, []azcosmos.QueryParameter{
		limit,
		{Name: "@date", Value: string(after.CreationDate)},
		{Name: "@id", Value: after.ID},
	}
}

// list reads one page of a list. One element more than asked for tells whether there is a next page; that a page of
// the service is full or comes with a continuation tells nothing of the kind.
func list[Item, Element any](
	ctx context.Context, c *azcosmos.ContainerClient, partition string, l listing, request blog.PageRequest,
	element func(*Item) (Element, blog.Position),
) (blog.Page[Element], error) {
	limit := request.First + 1
	text, parameters := l.text(limit, request.After)
	items, err := cosmos.Query[Item](ctx, c, partition, text, limit, parameters...)
	if err != nil {
		return blog.Page[Element]{}, err
	}
	return pageOf(items, request.First, element), nil
}

// pageOf makes a page of the first n items; that there are more makes it have a next page.
func pageOf[Item, Element any](items []Item, n int, element func(*Item) (Element, blog.Position)) blog.Page[Element] {
	page := blog.Page[Element]{HasNextPage: len(items) > n}
	if page.HasNextPage {
		items = items[:n]
	}
	page.Items = make([]Element, len(items))
	page.Positions = make([]blog.Position, len(items))
	for i := range items {
		page.Items[i], page.Positions[i] = element(&items[i])
	}
	return page
}
