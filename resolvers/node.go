package resolvers

import (
	"context"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// siblings are the users and the posts that will be asked for together with one node.
type siblings struct{ users, posts []string }

// siblingsOf gives what the nodes of several ids need: a comment and a like need their post, too.
func siblingsOf(ids []blog.Ref) (s siblings) {
	for _, id := range ids {
		if id.Type == blog.TypeUser {
			s.users = append(s.users, id.ID)
		} else {
			s.posts = append(s.posts, id.PartitionKey)
		}
	}
	return s
}

// node gives what an id names, and nil where there is nothing.
func (r *Resolver) node(ctx context.Context, id blog.Ref, s siblings) (model.Node, error) {
	posts := func() []string { return s.posts }
	switch id.Type {
	case blog.TypeUser:
		return asNode(r.user(ctx, id.ID, func() []string { return s.users }))
	case blog.TypePost:
		return asNode(r.post(ctx, id.ID, posts))
	case blog.TypeComment:
		return asNode(r.comment(ctx, id, posts))
	default: // a Like: a Ref has no other type
		return asNode(r.like(ctx, id, posts))
	}
}

// comment reads a comment once in a scope, and then its post: nobody sees the comments of a post that is gone.
func (r *Resolver) comment(ctx context.Context, id blog.Ref, siblings func() []string) (*blog.Comment, error) {
	comment, _, err := scopeOf(ctx).comments.load(ctx, id, nil, alone(r.store.Comment))
	if comment == nil || err != nil {
		return nil, err
	}
	if parent, err := r.parent(ctx, comment.Post, siblings); parent == nil {
		return nil, err
	}
	return comment, nil
}

// like reads a like as comment reads a comment.
func (r *Resolver) like(ctx context.Context, id blog.Ref, siblings func() []string) (*blog.Like, error) {
	like, _, err := scopeOf(ctx).likes.load(ctx, id, nil, alone(r.store.Like))
	if like == nil || err != nil {
		return nil, err
	}
	if parent, err := r.parent(ctx, like.Post, siblings); parent == nil {
		return nil, err
	}
	return like, nil
}

// alone makes the fetch of a loader from a read of one item, for things that have no siblings.
func alone[T any](read func(ctx context.Context, partitionKey, id string) (*T, error)) fetch[blog.Ref, *T] {
	return func(ctx context.Context, ids []blog.Ref) (map[blog.Ref]*T, error) {
		var thing *T
		err := scopeOf(ctx).read(ctx, 1, func() (bytes int, err error) {
			thing, err = orNull(read(ctx, ids[0].PartitionKey, ids[0].ID))
			if thing != nil {
				bytes = contentBytes(thing)
			}
			return bytes, err
		})
		if thing == nil || err != nil {
			return nil, err
		}
		return map[blog.Ref]*T{ids[0]: thing}, nil
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
func (r *Resolver) user(ctx context.Context, id string, siblings func() []string) (*blog.User, error) {
	user, _, err := scopeOf(ctx).users.load(ctx, id, siblings, together(r.store.Users))
	return user, err
}

// post reads a whole post as user reads a user.
func (r *Resolver) post(ctx context.Context, id string, siblings func() []string) (*blog.Post, error) {
	post, _, err := scopeOf(ctx).posts.load(ctx, id, siblings, together(r.store.Posts))
	return post, err
}

// together makes the fetch of a loader from a read of several items.
func together[T any](read func(ctx context.Context, ids []string) (map[string]*T, error)) fetch[string, *T] {
	return func(ctx context.Context, ids []string) (things map[string]*T, err error) {
		err = scopeOf(ctx).read(ctx, len(ids), func() (bytes int, err error) {
			things, err = read(ctx, ids)
			for _, thing := range things {
				bytes += contentBytes(thing)
			}
			return bytes, err
		})
		return things, err
	}
}

// check holds an id to the type that an argument wants. Error: BAD_USER_INPUT.
func check(id blog.Ref, want blog.Type) error {
	if id.Type != want {
		return blog.Errorf(blog.BadUserInput, "That is the id of a %s; here the id of a %s is wanted.", id.Type, want)
	}
	return nil
}
