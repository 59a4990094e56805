package store

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// LikePost likes a post (C4): one execution of createLike. It returns the like; its Post is
// loaded except for the content. If the user already likes the post, it changes nothing and
// returns the existing like. Errors: NOT_FOUND if there is no such post; THROTTLED.
func (s *Store) LikePost(ctx context.Context, user *blog.User, postID string) (*blog.Like, error) {
	ctx, deadline, cancel := s.withDeadlineOf(ctx, user)
	defer cancel()
	item := schema.NewLikeItem(postID, &blog.Like{User: user, CreationDate: s.clock.Next()})
	a, repeated, err := s.execute(ctx, schema.CreateLike, postID, createLikeArgument{postID, item, deadline})
	if err != nil {
		return nil, err
	}
	if err := likeRejections.of(a); err != nil {
		return nil, err
	}
	if !a.Duplicate || repeated {
		causeProjection(ctx, priceOfResponse, 0)
	}
	if a.Duplicate {
		return a.Like.Like(a.Post.Post()), nil
	}
	return item.Like(a.Post.Post()), nil
}

// UnlikePost removes the user's like of a post: one execution of deleteLike. It returns the
// post, loaded except for the content. If the user does not like the post, it changes nothing.
// Errors: NOT_FOUND if there is no such post; TRY_AGAIN if renames won every race; THROTTLED.
//
// A request removes nothing if it arrives after its deadline, or after the account has deleted its
// user and created a new one.
// If the like has a later revision than the user who was read, the user was perhaps renamed since.
// UnlikePost then reads the user again. A user who still exists also owns the like.
func (s *Store) UnlikePost(ctx context.Context, user *blog.User, postID string) (*blog.Post, error) {
	ctx, deadline, cancel := s.withDeadlineOf(ctx, user)
	defer cancel()
	argument := deleteLikeArgument{PostID: postID, UserID: user.ID, AuthorRevision: user.Revision, Deadline: deadline}
	for try := 1; ; try++ {
		a, repeated, err := s.execute(ctx, schema.DeleteLike, postID, argument)
		if err != nil {
			return nil, err
		}
		if a.Code != schema.CodeLikeChanged || try == cosmos.MaxConflictTries {
			if err := unlikeRejections.of(a); err != nil {
				return nil, err
			}
			if a.Removed || repeated {
				causeProjection(ctx, priceOfResponse, 0)
			}
			return a.Post.Post(), nil
		}
		if _, err := s.CurrentUser(ctx, user.ID); err != nil {
			return nil, err
		}
		argument.AuthorRevision = a.Like.AuthorRevision
	}
}

// RemoveLike removes the like of a deleted user from a post, unless the like has a later revision
// of the user than the given one. It has no deadline. Errors: NOT_FOUND if there is no such post,
// TRY_AGAIN for a later like, THROTTLED.
func (s *Store) RemoveLike(ctx context.Context, userID, postID string, revision int64) error {
	a, _, err := s.execute(ctx, schema.DeleteLike, postID, deleteLikeArgument{
		PostID: postID, UserID: userID, AuthorRevision: revision,
	})
	if err != nil {
		return err
	}
	return unlikeRejections.of(a)
}
