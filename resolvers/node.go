package resolvers

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/graph/model"
)

// batch holds the ids of users and posts that the nodes of one Query.nodes field need.
type batch struct{ users, posts []string }

// batchOf returns the users and posts that several nodes need. A comment or like needs its post.
func batchOf(ids []blog.Ref) (b batch) {
	for _, id := range ids {
		switch id.Type {
		case blog.TypeUser:
			b.users = append(b.users, id.ID)
		case blog.TypePost, blog.TypeComment, blog.TypeLike:
			b.posts = append(b.posts, id.PartitionKey)
		}
	}
	return b
}

// node returns the object with an id, or nil if it does not exist. It reads users and posts
// together with the rest of the batch. Error: BAD_USER_INPUT for a malformed id, the zero Ref.
func (r *Resolver) node(ctx context.Context, id blog.Ref, b batch) (model.Node, error) {
	posts := func() []string { return b.posts }
	switch id.Type {
	case blog.TypeUser:
		return asNode(r.loadUser(ctx, id.ID, func() []string { return b.users }))
	case blog.TypePost:
		post, err := r.loadPost(ctx, id.ID, posts)
		return asNode(r.withSelected(ctx, post, err))
	case blog.TypeComment:
		return asNode(r.loadComment(ctx, id, posts))
	case blog.TypeLike:
		return asNode(r.loadLike(ctx, id, posts))
	}
	return nil, blog.ErrBadRef
}

// asNode converts a nil pointer to a nil interface.
func asNode[T any, P interface {
	*T
	model.Node
}](object P, err error) (model.Node, error) {
	if object == nil || err != nil {
		return nil, err
	}
	return object, nil
}

// checkType checks that an id has the type that an argument or input field requires. Error:
// BAD_USER_INPUT, also for a malformed id.
func checkType(field string, id blog.Ref, want blog.Type) error {
	return blog.AtField(id.CheckType(want), field)
}
