package resolvers

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/store/sessions"
)

// mutationResolver calls one command of the store for each mutation. The result of the command is
// the payload, without a further read.
type mutationResolver struct{ *Resolver }

var _ graph.MutationResolver = mutationResolver{}

// CreateUser resolves Mutation.createUser (C1).
func (r mutationResolver) CreateUser(ctx context.Context, input blog.CreateUserInput) (*model.CreateUserPayload, error) {
	account, err := requireAccount(ctx)
	if err != nil {
		return nil, err
	}
	if err := blog.Check(input); err != nil {
		return nil, err
	}
	user, err := r.store.CreateUser(ctx, account, input.Username)
	if err != nil {
		return nil, err
	}
	sessions.From(ctx).UserChanged(user, false)
	return &model.CreateUserPayload{User: user}, nil
}

// UpdateUser resolves Mutation.updateUser (C1). The command itself checks that the account has a
// user.
func (r mutationResolver) UpdateUser(ctx context.Context, input blog.UpdateUserInput) (*model.UpdateUserPayload, error) {
	account, err := requireAccount(ctx)
	if err != nil {
		return nil, err
	}
	user, err := r.store.UpdateUser(ctx, account.UserID(), input.Username)
	if err != nil {
		return nil, asUserRequired(err)
	}
	sessions.From(ctx).UserChanged(user, true)
	return &model.UpdateUserPayload{User: user}, nil
}

// DeleteUser resolves Mutation.deleteUser. The command itself checks that the account has a user.
func (r mutationResolver) DeleteUser(ctx context.Context, input blog.DeleteUserInput) (*model.DeleteUserPayload, error) {
	account, err := requireAccount(ctx)
	if err != nil {
		return nil, err
	}
	user, err := r.store.DeleteUser(ctx, account.UserID(), input.Username)
	if err != nil {
		return nil, asUserRequired(err)
	}
	sessions.From(ctx).UserChanged(user, false)
	return &model.DeleteUserPayload{User: user}, nil
}

// CreatePost resolves Mutation.createPost (C2).
func (r mutationResolver) CreatePost(ctx context.Context, input blog.CreatePostInput) (*model.CreatePostPayload, error) {
	viewer, err := r.requireViewer(ctx)
	if err != nil {
		return nil, err
	}
	post, err := r.store.CreatePost(ctx, viewer, input)
	if err != nil {
		return nil, err
	}
	return &model.CreatePostPayload{Post: markExisting(ctx, post)}, nil
}

// UpdatePost resolves Mutation.updatePost (C2).
func (r mutationResolver) UpdatePost(ctx context.Context, input blog.UpdatePostInput) (*model.UpdatePostPayload, error) {
	viewer, err := r.requireViewer(ctx)
	if err != nil {
		return nil, err
	}
	post, err := r.store.UpdatePost(ctx, viewer.ID, input)
	if err != nil {
		return nil, err
	}
	return &model.UpdatePostPayload{Post: markExisting(ctx, post)}, nil
}

// DeletePost resolves Mutation.deletePost.
func (r mutationResolver) DeletePost(ctx context.Context, input blog.DeletePostInput) (*model.DeletePostPayload, error) {
	viewer, err := r.requireViewerFor(ctx, "id", input.ID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	post, err := r.store.DeletePost(ctx, viewer.ID, input.ID.ID)
	if err != nil {
		return nil, err
	}
	scopeFrom(ctx).existing.Store(post.ID, (*blog.Post)(nil))
	return &model.DeletePostPayload{Post: withOwnName(ctx, post)}, nil
}

// CreateComment resolves Mutation.createComment (C3).
func (r mutationResolver) CreateComment(ctx context.Context, input blog.CreateCommentInput) (*model.CreateCommentPayload, error) {
	viewer, err := r.requireViewer(ctx)
	if err != nil {
		return nil, err
	}
	comment, err := r.store.CreateComment(ctx, viewer, input)
	if err != nil {
		return nil, err
	}
	comment.Post = markExisting(ctx, comment.Post)
	return &model.CreateCommentPayload{Comment: comment, Post: comment.Post}, nil
}

// UpdateComment resolves Mutation.updateComment.
func (r mutationResolver) UpdateComment(ctx context.Context, input blog.UpdateCommentInput) (*model.UpdateCommentPayload, error) {
	viewer, err := r.requireViewer(ctx)
	if err != nil {
		return nil, err
	}
	comment, err := r.store.UpdateComment(ctx, viewer.ID, input)
	if err != nil {
		return nil, err
	}
	comment = withOwnName(ctx, comment)
	comment.Post = markExisting(ctx, comment.Post)
	return &model.UpdateCommentPayload{Comment: comment, Post: comment.Post}, nil
}

// DeleteComment resolves Mutation.deleteComment.
func (r mutationResolver) DeleteComment(ctx context.Context, input blog.DeleteCommentInput) (*model.DeleteCommentPayload, error) {
	viewer, err := r.requireViewerFor(ctx, "id", input.ID, blog.TypeComment)
	if err != nil {
		return nil, err
	}
	comment, err := r.store.DeleteComment(ctx, viewer.ID, input.ID.PartitionKey, input.ID.ID)
	if err != nil {
		return nil, err
	}
	comment = withOwnName(ctx, comment)
	comment.Post = markExisting(ctx, comment.Post)
	return &model.DeleteCommentPayload{Comment: comment, Post: comment.Post}, nil
}

// LikePost resolves Mutation.likePost (C4).
func (r mutationResolver) LikePost(ctx context.Context, input blog.LikePostInput) (*model.LikePostPayload, error) {
	viewer, err := r.requireViewerFor(ctx, "postId", input.PostID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	like, err := r.store.LikePost(ctx, viewer, input.PostID.ID)
	if err != nil {
		return nil, err
	}
	scopeFrom(ctx).liked.put(like.Post.ID, true)
	like = withOwnName(ctx, like)
	like.Post = markExisting(ctx, like.Post)
	return &model.LikePostPayload{Like: like, Post: like.Post}, nil
}

// UnlikePost resolves Mutation.unlikePost.
func (r mutationResolver) UnlikePost(ctx context.Context, input blog.UnlikePostInput) (*model.UnlikePostPayload, error) {
	viewer, err := r.requireViewerFor(ctx, "postId", input.PostID, blog.TypePost)
	if err != nil {
		return nil, err
	}
	post, err := r.store.UnlikePost(ctx, viewer, input.PostID.ID)
	if err != nil {
		return nil, err
	}
	scopeFrom(ctx).liked.put(post.ID, false)
	like := blog.Like{Post: post, User: viewer}
	return &model.UnlikePostPayload{UnlikedLikeID: new(like.Ref()), Post: markExisting(ctx, post)}, nil
}

// markExisting returns the post of a command's result. It records that the post exists, so that
// the payload's lists do not read the post again.
func markExisting(ctx context.Context, post *blog.Post) *blog.Post {
	post = withOwnName(ctx, post)
	scopeFrom(ctx).existing.Store(post.ID, post)
	return post
}
