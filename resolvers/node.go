package resolvers

import (
	"context"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// node gives what an id names, and nil where there is nothing. The siblings are ids of the same type that will be asked
// for next.
func (r *Resolver) node(ctx context.Context, id blog.Ref, siblings []string) (model.Node, error) {
	switch id.Type {
	case blog.TypeUser:
		return asNode(r.user(ctx, id.ID, siblings))
	case blog.TypePost:
		return asNode(r.post(ctx, id.ID, siblings))
	case blog.TypeComment:
		return asNode(orNull(r.store.Comment(ctx, id.PartitionKey, id.ID)))
	default: // a Like: a Ref has no other type
		return asNode(orNull(r.store.Like(ctx, id.PartitionKey, id.ID)))
	}
}

// asNode makes sure that what is not there is a nil Node, not a Node that holds a nil pointer.
func asNode[T any, P interface {
	*T
	model.Node
}](thing P, err error) (model.Node, error) {
	if thing == nil || err != nil {
		return nil, err
	}
	return thing, nil
}

// orNull makes of NOT_FOUND the null that queries answer.
func orNull[T any](thing *T, err error) (*T, error) {
	if err != nil && blog.CodeOf(err) == blog.NotFound {
		return nil, nil
	}
	return thing, err
}

// user reads a user once in a scope, and the siblings with it; nil where there is none.
func (r *Resolver) user(ctx context.Context, id string, siblings []string) (*blog.User, error) {
	user, _, err := scopeOf(ctx).users.load(ctx, id, siblings, r.store.Users)
	return user, err
}

// post reads a whole post as user reads a user.
func (r *Resolver) post(ctx context.Context, id string, siblings []string) (*blog.Post, error) {
	post, _, err := scopeOf(ctx).posts.load(ctx, id, siblings, r.store.Posts)
	return post, err
}

// check holds an id to the type that an argument wants. Error: BAD_USER_INPUT.
func check(id blog.Ref, want blog.Type) error {
	if id.Type != want {
		return blog.Errorf(blog.BadUserInput, "That is the id of a %s; here the id of a %s is wanted.", id.Type, want)
	}
	return nil
}
