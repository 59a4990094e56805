package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// listing is the query of one kind of list, from the beginning and after a position.
//
// ORDER BY includes the filtered property, although it is constant: only then does the composite
// index serve filter, sort and seek. A list therefore never reads a tombstone, which has another
// type, or in feed another value of deleted.
//
// The query uses TOP instead of OFFSET LIMIT. The service then stops at the last element, returns
// no continuation, and does not charge for skipped items.
//
// The query selects * instead of single properties. Unused properties are small or absent (a
// copy has no content), and the service need not build new items.
type listing struct{ first, after string }

const (
	newestFirstOrder = ` ORDER BY c.type, c.sortKey DESC`
	liveFirstOrder   = ` ORDER BY c.deleted, c.sortKey DESC`
	oldestFirstOrder = ` ORDER BY c.type DESC, c.sortKey` // both reversed: the same index

	afterNewest = ` AND c.sortKey < @position`
	afterOldest = ` AND c.sortKey > @position`

	userPostsFilter = `SELECT TOP @n * FROM c WHERE c.type = 'post'`
	feedPostsFilter = `SELECT TOP @n * FROM c WHERE c.deleted = false`
	arrivalsFilter  = `SELECT TOP @n * FROM c WHERE c.arrivalDate > `
	commentsFilter  = `SELECT TOP @n * FROM c WHERE c.type = 'comment'`
	likesFilter     = `SELECT TOP @n * FROM c WHERE c.type = 'like'`
)

// The lists: short copies of posts in users and in feed (Q3, Q6), comments (Q4) and likes (Q5) in
// posts. The entries of posts in lists have the query of those in users.
var (
	userPosts = listing{
		first: userPostsFilter + newestFirstOrder,
		after: userPostsFilter + afterNewest + newestFirstOrder,
	}
	feedPosts = listing{
		first: feedPostsFilter + liveFirstOrder,
		after: feedPostsFilter + afterNewest + liveFirstOrder,
	}
	// The posts of the feed in the order of their arrival. The position's date is that of an arrival.
	// No two posts have the same, and the key of a position sorts between its date and the next one.
	arrivals = listing{
		first: arrivalsFilter + `'' ORDER BY c.arrivalDate`,
		after: arrivalsFilter + `@position ORDER BY c.arrivalDate`,
	}
	allComments = listing{
		first: commentsFilter + oldestFirstOrder,
		after: commentsFilter + afterOldest + oldestFirstOrder,
	}
	newestComments = listing{
		first: commentsFilter + newestFirstOrder,
		after: commentsFilter + afterNewest + newestFirstOrder,
	}
	allLikes = listing{
		first: likesFilter + newestFirstOrder,
		after: likesFilter + afterNewest + newestFirstOrder,
	}
)

// text returns the query for at most n elements, and its parameters. after is nil for the
// beginning.
func (l listing) text(n int, after *blog.Position) (string, []azcosmos.QueryParameter) {
	limit := azcosmos.QueryParameter{Name: "@n", Value: n}
	if after == nil {
		return l.first, []azcosmos.QueryParameter{limit}
	}
	return l.after, []azcosmos.QueryParameter{
		limit,
		{Name: "@position", Value: schema.SortKey(after.CreationDate, after.ID)},
	}
}

// list reads the items of one page of a list, and one more if there is one. Neither a full page of
// the service nor its continuation shows whether there are more elements.
func list[Item any](
	ctx context.Context, c *azcosmos.ContainerClient, partition string, l listing, request blog.PageRequest,
) ([]Item, error) {
	limit := request.First + 1
	text, parameters := l.text(limit, request.After)
	return cosmos.Query[Item](ctx, c, partition, text, limit, parameters...)
}

// pageOf returns the page of the first n items. HasNextPage is true if there are more items.
func pageOf[Item, Element any, P *Item](items []Item, n int, element func(P) (Element, blog.Position)) blog.Page[Element] {
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
