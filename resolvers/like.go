package resolvers

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/graph"
)

type likeResolver struct{ *Resolver }

var _ graph.LikeResolver = likeResolver{}

// Post resolves Like.post.
func (r likeResolver) Post(ctx context.Context, like *blog.Like) (*blog.Post, error) {
	return r.referencedPost(ctx, like.Post)
}
