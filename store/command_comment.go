package store

import (
	"context"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// CreateComment creates a comment (C3): one execution of createComment, which also updates the
// post's counter in the same transaction. It returns the comment; its Post is loaded except for
// the content. A repeated idempotency key returns the comment that was created first. Errors:
// BAD_USER_INPUT; NOT_FOUND if there is no such post, or if the key's comment was deleted;
// IDEMPOTENCY_KEY_REUSED if the key was used with other input; THROTTLED.
func (s *Store) CreateComment(ctx context.Context, author *blog.User, in blog.CreateCommentInput) (*blog.Comment, error) {
	if err := blog.Check(in); err != nil {
		return nil, err
	}
	ctx, deadline, cancel := s.withDeadlineOf(ctx, author)
	defer cancel()
	postID := in.PostID.ID
	item := schema.NewCommentItem(postID, &blog.Comment{
		ID: s.ids.NewCommentID(author.ID, postID, valueOf(in.IdempotencyKey)), Author: author, Content: in.Content, CreationDate: s.clock.Next(),
	})
	item.InputHash = inputHash(in.IdempotencyKey, in)
	a, repeated, err := s.execute(ctx, schema.CreateComment, postID, createCommentArgument{postID, item, deadline})
	if err != nil {
		return nil, err
	}
	if err := createCommentRejections.of(a); err != nil {
		return nil, err
	}
	if !a.Duplicate || repeated {
		causeProjection(ctx, priceOfResponse, 0)
	}
	if a.Duplicate {
		return a.Comment.Comment(a.Post.Post()), nil
	}
	item.CreationDate = a.Post.LastCommentDate
	return item.Comment(a.Post.Post()), nil
}

// inputHash returns the hash of the input that is stored with the created item, or "" if there is
// no idempotency key.
func inputHash(idempotencyKey *string, input any) string {
	if idempotencyKey == nil {
		return ""
	}
	return blog.InputHash(input)
}

// valueOf returns an idempotency key, or "" if there is none. No valid key is empty.
func valueOf(idempotencyKey *string) string {
	if idempotencyKey == nil {
		return ""
	}
	return *idempotencyKey
}

// UpdateComment edits a comment of the user: one execution of updateComment. It returns the
// comment after the edit; its Post is loaded except for the content. If the content is unchanged,
// nothing is written. If the answer of the first execution is lost and another edit follows, the
// repetition writes nothing, and the result is the later edit. Errors: BAD_USER_INPUT; NOT_FOUND;
// FORBIDDEN if another user wrote the comment; THROTTLED.
func (s *Store) UpdateComment(ctx context.Context, userID string, in blog.UpdateCommentInput) (*blog.Comment, error) {
	if err := blog.Check(in); err != nil {
		return nil, err
	}
	ctx, deadline, cancel := s.withDeadlineAfter(ctx, time.Time{})
	defer cancel()
	a, _, err := s.execute(ctx, schema.UpdateComment, in.ID.PartitionKey, updateCommentArgument{
		ID:          in.ID.ID,
		PostID:      in.ID.PartitionKey,
		UserID:      userID,
		Content:     in.Content,
		Excerpt:     schema.CommentExcerpt(in.Content),
		Edit:        s.ids.NewEditID(),
		UpdatedDate: s.clock.Next(),
		Deadline:    deadline,
	})
	if err != nil {
		return nil, err
	}
	if err := updateCommentRejections.of(a); err != nil {
		return nil, err
	}
	causeProjection(ctx, priceOfResponse, 0)
	return a.Comment.Comment(a.Post.Post()), nil
}

// DeleteComment deletes a comment as its author or as the post's author: one execution of
// deleteComment. It returns the comment as it was; its Post is loaded except for the content. The
// comment's content is empty if the answer of the first execution was lost, and the projector has
// removed the text since. Errors: NOT_FOUND; FORBIDDEN for other users; THROTTLED.
func (s *Store) DeleteComment(ctx context.Context, userID, postID, commentID string) (*blog.Comment, error) {
	a, repeated, err := s.execute(ctx, schema.DeleteComment, postID, deleteCommentArgument{
		ID: commentID, PostID: postID, UserID: userID,
	})
	if err != nil {
		return nil, err
	}
	if repeated && a.mayBeDeletedBy(userID) {
		a.Code = schema.CodeOK
	}
	if err := deleteCommentRejections.of(a); err != nil {
		return nil, err
	}
	causeProjection(ctx, priceOfResponse+priceOfGoneComment, 0)
	return a.Comment.Comment(a.Post.Post()), nil
}

// mayBeDeletedBy reports whether the comment is deleted, and the user is its author or the post's
// author. If the procedure was executed twice, the first execution may have deleted it.
func (a answer) mayBeDeletedBy(userID string) bool {
	return a.Code == schema.CodeCommentDeleted && (a.Comment.Writer() == userID || a.Post.UserID == userID)
}
