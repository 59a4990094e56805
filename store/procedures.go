package store

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// answer is the answer of a stored procedure. Each procedure sets only the properties that
// apply to it. The post has no content.
type answer struct {
	Code      string              `json:"code"`
	Duplicate bool                `json:"duplicate"` // the item to create already existed
	Removed   bool                `json:"removed"`   // the deleted like existed
	Post      *schema.PostItem    `json:"post"`
	Comment   *schema.CommentItem `json:"comment"`
	Like      *schema.LikeItem    `json:"like"`
}

// Arguments of the procedures, each of which has one parameter. Deadline is in milliseconds of the
// database's time since 1970. Without one, the request may arrive at any time.
type (
	createPostArgument struct {
		Post     *schema.PostItem    `json:"post"`
		Content  *schema.ContentItem `json:"content,omitempty"` // if it is long
		Deadline int64               `json:"deadline,omitempty"`
	}
	createCommentArgument struct {
		PostID   string             `json:"postId"`
		Comment  schema.CommentItem `json:"comment"` // the procedure may set a later date
		Deadline int64              `json:"deadline,omitempty"`
	}
	updateCommentArgument struct {
		ID          string        `json:"id"`
		PostID      string        `json:"postId"`
		UserID      string        `json:"userId"`
		Content     string        `json:"content"`
		Excerpt     string        `json:"excerpt,omitempty"` // if it differs from the content
		Edit        string        `json:"edit"`              // the id of this edit
		UpdatedDate blog.DateTime `json:"updatedDate"`
		Deadline    int64         `json:"deadline,omitempty"`
	}
	deleteCommentArgument struct {
		ID     string `json:"id"`
		PostID string `json:"postId"`
		UserID string `json:"userId"`
	}
	createLikeArgument struct {
		PostID   string          `json:"postId"`
		Like     schema.LikeItem `json:"like"`
		Deadline int64           `json:"deadline,omitempty"`
	}
	deleteLikeArgument struct {
		PostID         string `json:"postId"`
		UserID         string `json:"userId"`
		AuthorRevision int64  `json:"authorRevision"` // the greatest that the like may have
		Deadline       int64  `json:"deadline,omitempty"`
	}
	reserveUsernameArgument struct {
		schema.ReservationItem
		ETag     azcore.ETag `json:"etag,omitempty"` // of the reservation to replace; "" if there is none
		Deadline int64       `json:"deadline"`
	}
)

// execute executes a procedure in a partition. repeated is true if it was executed more than once.
// Error: UNAVAILABLE with a *schema.MissingError if the procedure is not registered, because
// provision may be about to register it again.
func (s *Store) execute(ctx context.Context, procedure cosmos.Script, partition string, argument any) (a answer, repeated bool, err error) {
	repeated, err = schema.Execute(ctx, s.db, procedure, partition, argument, &a)
	if _, ok := errors.AsType[*schema.MissingError](err); ok {
		err = &blog.Error{
			Code: blog.Unavailable, Message: "The database is being changed. Try again later.",
			RetryAfter: cosmos.DefaultRetryAfter, Err: err,
		}
	}
	if err == nil && a.Code == schema.CodeTooLate && repeated {
		err = errPerhapsDone
	}
	return a, repeated, err
}

// rejections are the errors of one command, by the codes with which its procedure rejects it.
type rejections map[string]error

// The rejections of each command. They list all codes that the command's procedure answers, except
// schema.CodeOK.
var (
	createPostRejections = rejections{
		schema.CodePostNotFound: ErrNoPost, // the key's post
		schema.CodeKeyReused:    ErrKeyReused,
		schema.CodeTooLate:      errTooLate,
	}
	createCommentRejections = rejections{
		schema.CodeTooLate:        errTooLate,
		schema.CodePostNotFound:   ErrNoPost,
		schema.CodeCommentDeleted: errNoComment, // the key's comment
		schema.CodeKeyReused:      ErrKeyReused,
	}
	updateCommentRejections = rejections{
		schema.CodeTooLate:         errTooLate,
		schema.CodePostNotFound:    ErrNoPost,
		schema.CodeCommentNotFound: errNoComment,
		schema.CodeCommentDeleted:  errNoComment,
		schema.CodeForbidden:       blog.Errorf(blog.Forbidden, "You cannot edit this comment. Only its author can."),
	}
	deleteCommentRejections = rejections{
		schema.CodePostNotFound:    ErrNoPost,
		schema.CodeCommentNotFound: errNoComment,
		schema.CodeCommentDeleted:  errNoComment,
		schema.CodeForbidden:       blog.Errorf(blog.Forbidden, "You cannot delete this comment. Only its author or the post's author can."),
	}
	likeRejections   = rejections{schema.CodePostNotFound: ErrNoPost, schema.CodeTooLate: errTooLate}
	unlikeRejections = rejections{
		schema.CodePostNotFound: ErrNoPost,
		schema.CodeTooLate:      errTooLate,
		schema.CodeLikeChanged:  errLikeChanged,
	}
	reserveRejections = rejections{
		schema.CodeTooLate:            errReservationLost,
		schema.CodeReservationChanged: errReservationLost,
	}
)

// of returns the error for the code of an answer, and nil for schema.CodeOK. Error: INTERNAL for a
// code that is not in r.
func (r rejections) of(a answer) error {
	if a.Code == schema.CodeOK {
		return nil
	}
	if err, ok := r[a.Code]; ok {
		return err
	}
	return schema.UnknownCode(a.Code)
}

// Errors of several operations.
var (
	// ErrNoPost reports a post that does not exist, or was deleted.
	ErrNoPost    = blog.Errorf(blog.NotFound, "The post does not exist, or it was deleted.")
	errNoComment = blog.Errorf(blog.NotFound, "The comment does not exist, or it was deleted.")

	// errReservationLost makes a naming start again. Its next deadline is by the clock of the answer.
	errReservationLost = &blog.Error{
		Code:    blog.Conflict,
		Message: "The username was not reserved.",
		Err:     cosmos.NewDefiniteError("the reservation has changed, or the request was too late"),
	}

	errLikeChanged = blog.Errorf(blog.TryAgain, "Another request is changing this like right now. Try again.")

	// ErrKeyReused reports an idempotency key that was used with other input.
	ErrKeyReused = blog.Errorf(blog.IdempotencyKeyReused, "This `idempotencyKey` was already used with other input. Use a new key.")
)
