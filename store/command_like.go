package store

import (
	"context"

	"cosmosblog/internal/blog"
	"cosmosblog/store/schema"
)

// LikePost executes createLike (C4). A post that the user likes already stays as it is, and the like that is there is
// given. The like's Post is loaded but for its content. Errors: NOT_FOUND where there is no such post.
func (s *Store) LikePost(ctx context.Context, user *blog.User, postID string) (*blog.Like, error) {
	ctx, cancel := WithCommandDeadline(ctx)
	defer cancel()
	a, _, err := s.execute(ctx, schema.CreateLike, postID, createLikeArgument{
		PostID:         postID,
		UserID:         user.ID,
		UserUsername:   user.Username,
		AuthorRevision: user.Revision,
		CreationDate:   s.clock.Next(),
	})
	if err != nil {
		return nil, err
	}
	if err := a.refusal(); err != nil {
		return nil, err
	}
	return a.Like.Like(a.Post.Post()), nil
}

// UnlikePost executes deleteLike and gives the post, loaded but for its content. A post that the user does not like
// stays as it is. Errors: NOT_FOUND where there is no such post.
func (s *Store) UnlikePost(ctx context.Context, userID, postID string) (*blog.Post, error) {
	a, _, err := s.execute(ctx, schema.DeleteLike, postID, deleteLikeArgument{PostID: postID, UserID: userID})
	if err != nil {
		return nil, err
	}
	if err := a.refusal(); err != nil {
		return nil, err
	}
	return a.Post.Post(), nil
}
