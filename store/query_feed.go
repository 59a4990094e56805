package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// Feed lists the most recent posts in short form, newest first (Q6): one query to one partition of feed. It ends after
// the 100th: a page's positions carry their rank.
func (s *Store) Feed(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
	panic("not built yet")
}
