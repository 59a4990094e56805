package store

import "cosmosblog/internal/blog"

// Exported for the package's tests.
type (
	CreateCommentArgument = createCommentArgument
	UpdateCommentArgument = updateCommentArgument
	DeleteCommentArgument = deleteCommentArgument
	CreateLikeArgument    = createLikeArgument
	DeleteLikeArgument    = deleteLikeArgument
)

// NextDate returns the next creation date.
func (s *Store) NextDate() blog.DateTime { return s.clock.Next() }
