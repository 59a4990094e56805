package store

import (
	"context"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// Feed lists the most recent posts in short form, newest first (Q6): one query to one partition
// of feed. The list ends after 100 posts (blog.FeedLength). The positions of a page contain the
// posts' ranks. Error: THROTTLED.
func (s *Store) Feed(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
	rank := 0
	if page.After != nil {
		rank = page.After.Rank
	}
	left := blog.FeedLength - rank
	if left <= 0 {
		return blog.Page[*blog.Post]{}, nil
	}
	page.First = min(page.First, left)
	posts, err := readPage(ctx, s, s.feed, schema.FeedPartition, feedPosts, page, listedPost)
	if err != nil {
		return posts, err
	}
	posts.Positions = slices.Clone(posts.Positions) // the page may be shared
	for i := range posts.Positions {
		posts.Positions[i].Rank = rank + i + 1
	}
	posts.HasNextPage = posts.HasNextPage && len(posts.Items) < left
	return posts, nil
}

// Arrivals lists posts of the feed in short form, in the order in which they came into it: one
// query to one partition of feed. A position has the date of arrival as CreationDate; no two posts
// have the same. Error: THROTTLED.
func (s *Store) Arrivals(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
	return readPage(ctx, s, s.feed, schema.FeedPartition, arrivals, page, func(i *schema.FeedItem) (*blog.Post, blog.Position) {
		return i.Post(), blog.Position{CreationDate: i.ArrivalDate, ID: i.ID}
	})
}

// LastArrivals returns the date of the last arrival in the feed, and that of the last one among the
// posts that were trimmed since, by one point read. Both are empty if there was none. Error:
// THROTTLED.
func (s *Store) LastArrivals(ctx context.Context) (last, trimmed blog.DateTime, err error) {
	item, err := readItem[schema.ArrivalsItem](ctx, s, s.feed, schema.HorizonID, address{Partition: schema.FeedPartition, ID: schema.HorizonID})
	if err != nil || item == nil {
		return "", "", err
	}
	return item.LastArrival, item.TrimmedArrival, nil
}

// ArrivalOf returns the date at which a post came into the feed, by one point read. It is empty if
// the post was there before arrivals were dated, or after a refill. isListed is false if the post
// is not in the feed. Error: THROTTLED.
func (s *Store) ArrivalOf(ctx context.Context, postID string) (date blog.DateTime, isListed bool, err error) {
	item, err := readItem[schema.FeedItem](ctx, s, s.feed, schema.Feed, address{Partition: schema.FeedPartition, ID: postID})
	if err != nil || item == nil || item.Deleted {
		return "", false, err
	}
	return item.ArrivalDate, true, nil
}
