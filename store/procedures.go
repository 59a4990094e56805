package store

import (
	"context"
	"fmt"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// answer is what a stored procedure gives back, of whatever is said there. The post is without its content.
type answer struct {
	Code      string              `json:"code"`
	Duplicate bool                `json:"duplicate"` // createComment, createLike: it was there already
	Removed   bool                `json:"removed"`   // deleteLike: it was there
	Post      *schema.PostItem    `json:"post"`
	Comment   *schema.CommentItem `json:"comment"`
	Like      *schema.LikeItem    `json:"like"`
}

// The arguments of the procedures; each gets one.
type (
	createCommentArgument struct {
		ID             string        `json:"id"`
		PostID         string        `json:"postId"`
		UserID         string        `json:"userId"`
		UserUsername   string        `json:"userUsername"`
		AuthorRevision int64         `json:"authorRevision"`
		Content        string        `json:"content"`
		CreationDate   blog.DateTime `json:"creationDate"`
		InputHash      string        `json:"inputHash,omitempty"`
	}
	updateCommentArgument struct {
		ID          string        `json:"id"`
		PostID      string        `json:"postId"`
		UserID      string        `json:"userId"`
		Content     string        `json:"content"`
		UpdatedDate blog.DateTime `json:"updatedDate"`
	}
	deleteCommentArgument struct {
		ID     string `json:"id"`
		PostID string `json:"postId"`
		UserID string `json:"userId"`
	}
	createLikeArgument struct {
		PostID         string        `json:"postId"`
		UserID         string        `json:"userId"`
		UserUsername   string        `json:"userUsername"`
		AuthorRevision int64         `json:"authorRevision"`
		CreationDate   blog.DateTime `json:"creationDate"`
	}
	deleteLikeArgument struct {
		PostID string `json:"postId"`
		UserID string `json:"userId"`
	}
)

// execute executes one of the procedures of posts in a post's partition. Error: *MissingError if the
// procedure is not registered; ours report missing items only by their answer.
func (s *Store) execute(ctx context.Context, procedure cosmos.Script, postID string, argument any) (a answer, repeated bool, err error) {
	repeated, err = s.db.Execute(ctx, procedure, postID, argument, &a)
	if cosmos.IsNotFound(err) {
		err = &schema.MissingError{Database: s.db.Name(), Scripts: []string{procedure.ID}}
	}
	return a, repeated, err
}

// refusal gives the error that an answer's code stands for; nil for schema.CodeOK.
func (a answer) refusal() error {
	switch a.Code {
	case schema.CodeOK:
		return nil
	case schema.CodePostNotFound:
		return errNoPost
	case schema.CodeCommentNotFound, schema.CodeCommentDeleted:
		return errNoComment
	case schema.CodeKeyReused:
		return ErrKeyReused
	case schema.CodeForbidden:
		return blog.Errorf(blog.Forbidden, "Only its writer or the post's author may delete a comment.")
	}
	return &blog.Error{Code: blog.Internal, Message: "A stored procedure failed.", Err: fmt.Errorf("unknown code %q", a.Code)}
}

// The refusals that several operations have in common.
var (
	errNoPost    = blog.Errorf(blog.NotFound, "There is no such post.")
	errNoComment = blog.Errorf(blog.NotFound, "There is no such comment.")
	ErrKeyReused = blog.Errorf(blog.Conflict, "That idempotencyKey was used for something else.")
)
