package store

import (
	"context"
	"slices"

	"cosmosblog/internal/blog"
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
