package store

import (
	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// Exported for the package's tests.
type (
	CreatePostArgument    = createPostArgument
	CreateCommentArgument = createCommentArgument
	UpdateCommentArgument = updateCommentArgument
	DeleteCommentArgument = deleteCommentArgument
	CreateLikeArgument    = createLikeArgument
	DeleteLikeArgument    = deleteLikeArgument
)

// NextDate returns the next creation date.
func (s *Store) NextDate() blog.DateTime { return s.clock.Next() }

// Rejections are the rejections of each command, by its procedure's id.
var Rejections = map[string]map[string]error{
	schema.CreatePost.ID:      createPostRejections,
	schema.CreateComment.ID:   createCommentRejections,
	schema.UpdateComment.ID:   updateCommentRejections,
	schema.DeleteComment.ID:   deleteCommentRejections,
	schema.CreateLike.ID:      likeRejections,
	schema.DeleteLike.ID:      unlikeRejections,
	schema.ReserveUsername.ID: reserveRejections,
}
