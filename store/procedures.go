package store

import (
	"context"
	"fmt"

	"cosmosblog/internal/blog"
)

// The codes of a procedure's answer. One that is not OK says that nothing was written.
const (
	codeOK              = "OK"
	codePostNotFound    = "POST_NOT_FOUND"
	codeCommentNotFound = "COMMENT_NOT_FOUND"
	codeCommentDeleted  = "COMMENT_DELETED"
	codeKeyReused       = "KEY_REUSED"
	codeForbidden       = "FORBIDDEN"
)

// answer is what a stored procedure gives back, of whatever is said there. The post is without its content.
type answer struct {
	Code      string       `json:"code"`
	Duplicate bool         `json:"duplicate"` // createComment, createLike: it was there already
	Removed   bool         `json:"removed"`   // deleteLike: it was there
	Updated   int          `json:"updated"`   // updateUsernames, recountPost: how many items
	More      bool         `json:"more"`      // updateUsernames: execute it again
	Post      *postItem    `json:"post"`
	Comment   *commentItem `json:"comment"`
	Like      *likeItem    `json:"like"`
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
	updateUsernamesArgument struct {
		UserID         string `json:"userId"`
		Username       string `json:"username"`
		AuthorRevision int64  `json:"authorRevision"`
	}
	recountPostArgument struct {
		PostID string `json:"postId"`
	}
	probeArgument struct {
		Probe bool `json:"probe"`
	}
)

// execute executes one of the procedures of posts in a post's partition. Error: *MissingError where it is not registered; ours find
// nothing missing in any other way than by their answer.
func (s *Store) execute(ctx context.Context, procedure script, postID string, argument any) (a answer, repeated bool, err error) {
	repeated, err = s.procedures.execute(ctx, procedure, postID, argument, &a)
	if isNotFound(err) {
		err = &MissingError{Database: s.database, Scripts: []string{procedure.id}}
	}
	return a, repeated, err
}

// refusal gives the error that an answer's code stands for; nil for codeOK.
func (a answer) refusal() error {
	switch a.Code {
	case codeOK:
		return nil
	case codePostNotFound:
		return errNoPost
	case codeCommentNotFound, codeCommentDeleted:
		return errNoComment
	case codeKeyReused:
		return errKeyReused
	case codeForbidden:
		return blog.Errorf(blog.Forbidden, "Only its writer or the post's author may delete a comment.")
	}
	return &blog.Error{Code: blog.Internal, Message: "A stored procedure failed.", Err: fmt.Errorf("unknown code %q", a.Code)}
}

// updateUsernames gives what a user wrote in one partition of posts the user's username as it is at a revision of the
// user, where it still bears an older one. Where more is true it was not all: it wants to be called again.
func (s *Store) updateUsernames(ctx context.Context, postID string, argument updateUsernamesArgument) (updated int, more bool, err error) {
	a, _, err := s.execute(ctx, updateUsernamesScript, postID, argument)
	if err == nil {
		err = a.refusal()
	}
	return a.Updated, a.More, err
}

// recountPost sets the counters of a post to what there is to count, and tells whether they were wrong. A counter that is
// mended is a change of the post. Error: NOT_FOUND where there is no such post, or it is deleted.
func (s *Store) recountPost(ctx context.Context, postID string) (mended bool, err error) {
	a, _, err := s.execute(ctx, recountPostScript, postID, recountPostArgument{PostID: postID})
	if err == nil {
		err = a.refusal()
	}
	return a.Updated > 0, err
}

// The refusals that several operations have in common.
var (
	errNoPost    = blog.Errorf(blog.NotFound, "There is no such post.")
	errNoComment = blog.Errorf(blog.NotFound, "There is no such comment.")
	errKeyReused = blog.Errorf(blog.Conflict, "That idempotencyKey was used for something else.")
)
