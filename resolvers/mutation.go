package resolvers

import (
	"context"

	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// mutationResolver calls one command of the store for each mutation. What the command gives back is the answer: it is
// not read again.
type mutationResolver struct{ *Resolver }

var _ graph.MutationResolver = mutationResolver{}

// CreateUser answers Mutation.createUser (C1).
func (r mutationResolver) CreateUser(ctx context.Context, input model.CreateUserInput) (*model.CreateUserPayload, error) {
	account, err := account(ctx)
	if err != nil {
		return nil, err
	}
	if input.IdempotencyKey != nil { // without effect, but held to its rule
		if err := blog.CheckIdempotencyKey(*input.IdempotencyKey); err != nil {
			return nil, err
		}
	}
	user, err := r.store.CreateUser(ctx, account, input.Username)
	if err != nil {
		return nil, err
	}
	return &model.CreateUserPayload{User: user}, nil
}

// UpdateUser answers Mutation.updateUser (C1). Whether the account has a user is what the command reads first.
func (r mutationResolver) UpdateUser(ctx context.Context, input model.UpdateUserInput) (*model.UpdateUserPayload, error) {
	account, err := account(ctx)
	if err != nil {
		return nil, err
	}
	user, err := r.store.UpdateUser(ctx, account.UserID(), input.Username)
	if err != nil {
		return nil, forbidden(err)
	}
	return &model.UpdateUserPayload{User: user}, nil
}

// DeleteUser answers Mutation.deleteUser. Whether the account has a user is what the command reads first.
func (r mutationResolver) DeleteUser(ctx context.Context, input model.DeleteUserInput) (*model.DeleteUserPayload, error) {
	account, err := account(ctx)
	if err != nil {
		return nil, err
	}
	user, err := r.store.DeleteUser(ctx, account.UserID(), input.Username)
	if err != nil {
		return nil, forbidden(err)
	}
	return &model.DeleteUserPayload{User: user}, nil
}

// CreatePost answers Mutation.createPost (C2).
func (r mutationResolver) CreatePost(ctx context.Context, input model.CreatePostInput) (*model.CreatePostPayload, error) {
	viewer, err := r.signedIn(ctx)
	if err != nil {
		return nil, err
	}
	key, err := idempotencyKey(input.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	post, err := r.store.CreatePost(ctx, viewer, blog.PostInput{Title: input.Title, Content: input.Content, IdempotencyKey: key})
	if err != nil {
		return nil, err
	}
	return &model.CreatePostPayload{Post: known(ctx, post)}, nil
}

// UpdatePost answers Mutation.updatePost (C2).
func (r mutationResolver) UpdatePost(ctx context.Context, input model.UpdatePostInput) (*model.UpdatePostPayload, error) {
	viewer, err := r.signedInFor(ctx, input.ID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	change := blog.PostChange{Title: input.Title, Content: input.Content, Version: input.Version}
	post, err := r.store.UpdatePost(ctx, viewer.ID, input.ID.ID, change)
	if err != nil {
		return nil, err
	}
	return &model.UpdatePostPayload{Post: known(ctx, post)}, nil
}

// DeletePost answers Mutation.deletePost.
func (r mutationResolver) DeletePost(ctx context.Context, input model.DeletePostInput) (*model.DeletePostPayload, error) {
	viewer, err := r.signedInFor(ctx, input.ID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	post, err := r.store.DeletePost(ctx, viewer.ID, input.ID.ID)
	if err != nil {
		return nil, err
	}
	scopeOf(ctx).parents.Store(post.ID, (*blog.Post)(nil))
	return &model.DeletePostPayload{Post: post}, nil
}

// CreateComment answers Mutation.createComment (C3).
func (r mutationResolver) CreateComment(ctx context.Context, input model.CreateCommentInput) (*model.CreateCommentPayload, error) {
	viewer, err := r.signedInFor(ctx, input.PostID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	key, err := idempotencyKey(input.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	comment, err := r.store.CreateComment(ctx, viewer, blog.CommentInput{PostID: input.PostID.ID, Content: input.Content, IdempotencyKey: key})
	if err != nil {
		return nil, err
	}
	return &model.CreateCommentPayload{Comment: comment, Post: known(ctx, comment.Post)}, nil
}

// UpdateComment answers Mutation.updateComment.
func (r mutationResolver) UpdateComment(ctx context.Context, input model.UpdateCommentInput) (*model.UpdateCommentPayload, error) {
	viewer, err := r.signedInFor(ctx, input.ID, blog.TypeComment)
	if err != nil {
		return nil, err
	}
	comment, err := r.store.UpdateComment(ctx, viewer.ID, input.ID.PartitionKey, input.ID.ID, input.Content)
	if err != nil {
		return nil, err
	}
	return &model.UpdateCommentPayload{Comment: comment, Post: known(ctx, comment.Post)}, nil
}

// DeleteComment answers Mutation.deleteComment.
func (r mutationResolver) DeleteComment(ctx context.Context, input model.DeleteCommentInput) (*model.DeleteCommentPayload, error) {
	viewer, err := r.signedInFor(ctx, input.ID, blog.TypeComment)
	if err != nil {
		return nil, err
	}
	comment, err := r.store.DeleteComment(ctx, viewer.ID, input.ID.PartitionKey, input.ID.ID)
	if err != nil {
		return nil, err
	}
	return &model.DeleteCommentPayload{Comment: comment, Post: known(ctx, comment.Post)}, nil
}

// LikePost answers Mutation.likePost (C4).
func (r mutationResolver) LikePost(ctx context.Context, input model.LikePostInput) (*model.LikePostPayload, error) {
	viewer, err := r.signedInFor(ctx, input.PostID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	like, err := r.store.LikePost(ctx, viewer, input.PostID.ID)
	if err != nil {
		return nil, err
	}
	scopeOf(ctx).liked.put(like.Post.ID, true)
	return &model.LikePostPayload{Like: like, Post: known(ctx, like.Post)}, nil
}

// UnlikePost answers Mutation.unlikePost.
func (r mutationResolver) UnlikePost(ctx context.Context, input model.UnlikePostInput) (*model.UnlikePostPayload, error) {
	viewer, err := r.signedInFor(ctx, input.PostID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	post, err := r.store.UnlikePost(ctx, viewer.ID, input.PostID.ID)
	if err != nil {
		return nil, err
	}
	scopeOf(ctx).liked.put(post.ID, false)
	return &model.UnlikePostPayload{Post: known(ctx, post)}, nil
}

// signedInFor gives the viewer to a mutation whose input names something of a type. Errors: those of signedIn, and
// BAD_USER_INPUT for an id of another type.
func (r mutationResolver) signedInFor(ctx context.Context, id blog.Ref, want blog.Type) (*blog.User, error) {
	viewer, err := r.signedIn(ctx)
	if err != nil {
		return nil, err
	}
	return viewer, check(id, want)
}

// known notes that a command has seen the post, so that it is not read again for the lists below it.
func known(ctx context.Context, post *blog.Post) *blog.Post {
	scopeOf(ctx).parents.Store(post.ID, post)
	return post
}

// idempotencyKey gives the key, and nothing where none is given. The store holds it to its rule, but takes an empty one,
// which is refused here, for none. Error: BAD_USER_INPUT.
func idempotencyKey(key *string) (string, error) {
	switch {
	case key == nil:
		return "", nil
	case *key == "":
		return "", blog.CheckIdempotencyKey(*key)
	}
	return *key, nil
}
