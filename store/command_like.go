package store

import (
	"context"

	"cosmosblog/internal/blog"
	"cosmosblog/store/schema"
)

// LikePost likes a post (C4): one execution of createLike. It returns the like; its Post is
// loaded except for the content. If the user already likes the post, it changes nothing and
// returns the existing like. Errors: NOT_FOUND if there is no such post; THROTTLED.
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
	if err := likeRejections.of(a); err != nil {
		return nil, err
	}
	return a.Like.Like(a.Post.Post()), nil
}

// UnlikePost removes the user's like of a post: one execution of deleteLike. It returns the
// post, loaded except for the content. If the user does not like the post, it changes nothing.
// Errors: NOT_FOUND if there is no such post; THROTTLED.
func (s *Store) UnlikePost(ctx context.Context, userID, postID string) (*blog.Post, error) {
	a, _, err := s.execute(ctx, schema.DeleteLike, postID, deleteLikeArgument{PostID: postID, UserID: userID})
	if err != nil {
		return nil, err
	}
	if err := unlikeRejections.of(a); err != nil {
		return nil, err
	}
	return a.Post.Post(), nil
}
