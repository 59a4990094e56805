package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/blog"
	"cosmosblog/store/sessions"
)

// loadUser returns a user, or nil if the user does not exist. It reads each user once per scope,
// together with the siblings.
func (r *Resolver) loadUser(ctx context.Context, id string, siblings func() []string) (*blog.User, error) {
	user, _, err := scopeFrom(ctx).users.load(ctx, id, siblings, fetchMany(r.store.Users))
	if err == nil {
		sessions.From(ctx).UserRead(id, user)
	}
	return user, err
}

// loadPost returns a post, or nil if the post does not exist. The post lacks its content if that is
// long. loadPost reads each post once per scope, together with the siblings.
func (r *Resolver) loadPost(ctx context.Context, id string, siblings func() []string) (*blog.Post, error) {
	post, _, err := scopeFrom(ctx).posts.load(ctx, id, siblings, fetchMany(r.store.Posts))
	return post, err
}

// loadContent returns a post with its content, or nil if it was deleted since it was read. It reads
// a long content together with those of the siblings, which loadPost has read: as many as one
// request may read (usage.batchBytes). If there are more, requests of so many bytes are sent one
// after the other, so that an operation that was charged too much stops between them.
func (r *Resolver) loadContent(ctx context.Context, post *blog.Post, siblings func() []string) (*blog.Post, error) {
	if !post.LacksContent() {
		return post, nil
	}
	scope := scopeFrom(ctx)
	read, weight := map[string]*blog.Post{post.ID: post}, 1
	long := func() (ids []string) {
		free := scope.batchBytes() - post.ContentSize.Bytes()
		for _, id := range siblings() {
			sibling, ok := scope.posts.loaded(id)
			if _, isRequested := scope.contents.lookup(id); !ok || sibling == nil || !sibling.LacksContent() || isRequested {
				continue
			}
			if free -= sibling.ContentSize.Bytes(); free < 0 {
				weight = maxPendingElements
				break
			}
			ids = append(ids, id)
			read[id] = sibling
		}
		return ids
	}
	weigh := func(n int) int { return max(weight, n) }
	whole, _, err := scope.contents.load(ctx, post.ID, long, fetchWeighed(weigh, func(ctx context.Context, ids []string) (map[string]*blog.Post, error) {
		posts := make([]*blog.Post, len(ids))
		for i, id := range ids {
			posts[i] = read[id]
		}
		return r.store.WithContent(ctx, posts)
	}))
	return whole, err
}

// withSelected returns a post with its content if the operation selects it below the context's
// field. The title and the content are then from the same edit, even if the post is being edited.
func (r *Resolver) withSelected(ctx context.Context, post *blog.Post, err error) (*blog.Post, error) {
	if post == nil || err != nil || !post.LacksContent() || !graphql.FieldRequested(ctx, "content") {
		return post, err
	}
	return r.loadContent(ctx, post, noSiblings)
}

func noSiblings() []string { return nil }

// loadComment returns a comment, or nil if the comment or its post does not exist. It reads each
// comment once per scope, and the post together with the siblings, which are ids of posts.
func (r *Resolver) loadComment(ctx context.Context, id blog.Ref, siblings func() []string) (*blog.Comment, error) {
	comment, _, err := scopeFrom(ctx).comments.load(ctx, id, nil, fetchOne(r.store.Comment))
	if comment == nil || err != nil {
		return nil, err
	}
	if post, err := r.existingPost(ctx, comment.Post, siblings); post == nil {
		return nil, err
	}
	return comment, nil
}

// loadLike returns a like, or nil if the like or its post does not exist. It reads like
// loadComment.
func (r *Resolver) loadLike(ctx context.Context, id blog.Ref, siblings func() []string) (*blog.Like, error) {
	like, _, err := scopeFrom(ctx).likes.load(ctx, id, nil, fetchOne(r.store.Like))
	if like == nil || err != nil {
		return nil, err
	}
	if post, err := r.existingPost(ctx, like.Post, siblings); post == nil {
		return nil, err
	}
	return like, nil
}

// existingPost returns a post, or nil if it was deleted. If the post was read before or a command
// returned it, existingPost sends no request. Otherwise, it reads the post with its siblings.
func (r *Resolver) existingPost(ctx context.Context, post *blog.Post, siblings func() []string) (*blog.Post, error) {
	existing := &scopeFrom(ctx).existing
	if known, ok := existing.Load(post.ID); ok {
		return known.(*blog.Post), nil
	}
	if isShort(post) {
		whole, err := r.loadPost(ctx, post.ID, siblings)
		if err != nil || whole == nil {
			return nil, err
		}
		post = whole
	}
	existing.Store(post.ID, post)
	return post, nil
}

// fetchOne returns the fetch of a loader whose values have no siblings.
func fetchOne[T any](read func(ctx context.Context, partitionKey, id string) (*T, error)) fetch[blog.Ref, *T] {
	return func(ctx context.Context, ids []blog.Ref) (map[blog.Ref]*T, error) {
		var value *T
		err := scopeFrom(ctx).read(ctx, 1, func() (bytes int, err error) {
			value, err = orNull(read(ctx, ids[0].PartitionKey, ids[0].ID))
			if value != nil {
				value = withOwnName(ctx, value)
				bytes = contentBytes(value)
			}
			return bytes, err
		})
		if value == nil || err != nil {
			return nil, err
		}
		return map[blog.Ref]*T{ids[0]: value}, nil
	}
}

// fetchMany returns the fetch of a loader that reads all siblings at once.
func fetchMany[K comparable, T any](read func(ctx context.Context, ids []K) (map[K]*T, error)) fetch[K, *T] {
	return fetchWeighed(func(n int) int { return n }, read)
}

// fetchWeighed is fetchMany for reads of n elements that count as weigh(n) pending elements.
func fetchWeighed[K comparable, T any](weigh func(n int) int, read func(ctx context.Context, ids []K) (map[K]*T, error)) fetch[K, *T] {
	return func(ctx context.Context, ids []K) (values map[K]*T, err error) {
		err = scopeFrom(ctx).read(ctx, weigh(len(ids)), func() (bytes int, err error) {
			values, err = read(ctx, ids)
			for id, value := range values {
				values[id] = withOwnName(ctx, value)
				bytes += contentBytes(value)
			}
			return bytes, err
		})
		return values, err
	}
}

// orNull turns the error NOT_FOUND into nil, because queries return null for missing objects.
func orNull[T any](value *T, err error) (*T, error) {
	if err != nil && blog.CodeOf(err) == blog.NotFound {
		return nil, nil
	}
	return value, err
}
