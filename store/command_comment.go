package store

import (
	"context"

	"cosmosblog/internal/blog"
	"cosmosblog/store/schema"
)

// CreateComment executes createComment (C3): the comment and the post's counter in one transaction. The comment's Post
// is loaded but for its content. The same idempotency key gives the comment that it made before.
// Errors: BAD_USER_INPUT; NOT_FOUND where there is no such post, or the key's comment was deleted; CONFLICT where the
// key was used for other input.
func (s *Store) CreateComment(ctx context.Context, author *blog.User, in blog.CommentInput) (*blog.Comment, error) {
	if err := blog.CheckComment(in.Content); err != nil {
		return nil, err
	}
	hash, err := inputHash(in.IdempotencyKey, in.Content)
	if err != nil {
		return nil, err
	}
	ctx, cancel := WithCommandDeadline(ctx)
	defer cancel()
	a, _, err := s.execute(ctx, schema.CreateComment, in.PostID, createCommentArgument{
		ID:             s.ids.NewCommentID(author.ID, in.PostID, in.IdempotencyKey),
		PostID:         in.PostID,
		UserID:         author.ID,
		UserUsername:   author.Username,
		AuthorRevision: author.Revision,
		Content:        in.Content,
		CreationDate:   s.clock.Next(),
		InputHash:      hash,
	})
	if err != nil {
		return nil, err
	}
	if err := a.refusal(); err != nil {
		return nil, err
	}
	return a.Comment.Comment(a.Post.Post()), nil
}

// inputHash checks an idempotency key and gives what is kept beside the item that it makes; nothing where there is no
// key. Error: BAD_USER_INPUT.
func inputHash(idempotencyKey string, input ...string) (string, error) {
	if idempotencyKey == "" {
		return "", nil
	}
	if err := blog.CheckIdempotencyKey(idempotencyKey); err != nil {
		return "", err
	}
	return blog.InputHash(input...), nil
}

// UpdateComment executes updateComment: only the comment's writer may. It gives the comment as it is then, its Post
// loaded but for its content. A content that is there already is not written. Errors: BAD_USER_INPUT, NOT_FOUND,
// FORBIDDEN.
func (s *Store) UpdateComment(ctx context.Context, userID, postID, commentID, content string) (*blog.Comment, error) {
	if err := blog.CheckComment(content); err != nil {
		return nil, err
	}
	a, _, err := s.execute(ctx, schema.UpdateComment, postID, updateCommentArgument{
		ID: commentID, PostID: postID, UserID: userID, Content: content, UpdatedDate: s.clock.Next(),
	})
	if err != nil {
		return nil, err
	}
	if a.Code == schema.CodeForbidden {
		return nil, errNotWriter
	}
	if err := a.refusal(); err != nil {
		return nil, err
	}
	return a.Comment.Comment(a.Post.Post()), nil
}

var errNotWriter = blog.Errorf(blog.Forbidden, "Only its writer may change a comment.")

// DeleteComment executes deleteComment: only the comment's writer or the post's author may. It gives the comment as it
// was, its Post loaded but for its content. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) DeleteComment(ctx context.Context, userID, postID, commentID string) (*blog.Comment, error) {
	a, repeated, err := s.execute(ctx, schema.DeleteComment, postID, deleteCommentArgument{
		ID: commentID, PostID: postID, UserID: userID,
	})
	if err != nil {
		return nil, err
	}
	if repeated && a.deletedBy(userID) {
		a.Code = schema.CodeOK
	}
	if err := a.refusal(); err != nil {
		return nil, err
	}
	return a.Comment.Comment(a.Post.Post()), nil
}

// deletedBy tells whether a comment is found deleted that the user may have deleted.
func (a answer) deletedBy(userID string) bool {
	return a.Code == schema.CodeCommentDeleted && (a.Comment.UserID == userID || a.Post.UserID == userID)
}
