package resolvers

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
)

type (
	tagResolver          struct{ *Resolver }
	archiveMonthResolver struct{ *Resolver }
)

var (
	_ graph.TagResolver          = tagResolver{}
	_ graph.ArchiveMonthResolver = archiveMonthResolver{}
)

// PostCount resolves Tag.postCount.
func (r tagResolver) PostCount(ctx context.Context, tag *blog.Tag) (*int, error) {
	return r.postCount(ctx, tag.List())
}

// Posts resolves Tag.posts.
func (r tagResolver) Posts(ctx context.Context, tag *blog.Tag, first *int, after *string) (*model.PostConnection, error) {
	return r.listedPosts(ctx, tag.List(), first, after)
}

// PostCount resolves ArchiveMonth.postCount.
func (r archiveMonthResolver) PostCount(ctx context.Context, month *blog.Month) (*int, error) {
	return r.postCount(ctx, month.List())
}

// Posts resolves ArchiveMonth.posts.
func (r archiveMonthResolver) Posts(ctx context.Context, month *blog.Month, first *int, after *string) (*model.PostConnection, error) {
	return r.listedPosts(ctx, month.List(), first, after)
}

// listedPosts returns a page of the posts of a list, which are entries.
func (r *Resolver) listedPosts(ctx context.Context, list blog.List, first *int, after *string) (*model.PostConnection, error) {
	return connection(ctx, listSource[*blog.Post]{
		list:  model.ListedPostsList(list),
		pages: &scopeFrom(ctx).postPages,
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
			return r.store.ListedPosts(ctx, list, page)
		},
	}, first, after)
}

// postCount returns the number of posts in a list. It reads the counters of the tags or months of
// the same list together.
func (r *Resolver) postCount(ctx context.Context, list blog.List) (*int, error) {
	count, _, err := scopeFrom(ctx).counts.load(ctx, list, siblingLists(ctx), fetchMany(r.store.PostCounts))
	if count == nil && err == nil {
		count = new(int)
	}
	return count, err
}
