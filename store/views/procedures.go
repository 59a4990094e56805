package views

import (
	"context"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// changedAnswer is the answer of a stored procedure that changes several items.
type changedAnswer struct {
	Code    string `json:"code"`
	Updated int    `json:"updated"` // how many items changed
	More    bool   `json:"more"`    // updateUsernames: execute it again
}

type updateUsernamesArgument struct {
	PostID         string `json:"postId"`
	UserID         string `json:"userId"`
	Username       string `json:"username"`
	AuthorRevision int64  `json:"authorRevision"`
}

// postArgument is the argument of recountPost and restoreRecentComments.
type postArgument struct {
	PostID string `json:"postId"`
}

// updateUsernames writes the username of the argument to all items of a user in one partition of
// posts that have an earlier revision of the user, and to the recent comments of its post. It
// returns the number of changed items. If more is true, it must be executed again: an execution
// changes as many items as it has time for.
func (v *Views) updateUsernames(ctx context.Context, postID string, argument updateUsernamesArgument) (updated int, more bool, err error) {
	argument.PostID = postID
	a, err := v.execute(ctx, schema.UpdateUsernames, postID, argument)
	return a.Updated, a.More, err
}

// RecountPost sets the counters of a post to the number of its comments and likes, and reports
// whether they were wrong. A corrected counter is a change of the post. Errors: NOT_FOUND if
// there is no such post, or it is deleted; cosmos.IsScriptTimeout if there are too many to count.
func (v *Views) RecountPost(ctx context.Context, postID string) (corrected bool, err error) {
	a, err := v.execute(ctx, schema.RecountPost, postID, postArgument{postID})
	return a.Updated > 0, err
}

// RestoreRecentComments sets the recent comments of a post to its newest comments, if they are
// wrong. A corrected post has changed. Error: NOT_FOUND if there is no such post, or it is deleted.
func (v *Views) RestoreRecentComments(ctx context.Context, postID string) error {
	_, err := v.execute(ctx, schema.RestoreRecent, postID, postArgument{postID})
	return err
}

// execute executes a stored procedure in a post's partition. Error: *schema.MissingError if it is
// not registered.
func (v *Views) execute(ctx context.Context, procedure cosmos.Script, postID string, argument any) (a changedAnswer, err error) {
	_, err = schema.Execute(ctx, v.db, procedure, postID, argument, &a)
	switch {
	case err != nil:
		return a, err
	case a.Code == schema.CodePostNotFound:
		return a, blog.Errorf(blog.NotFound, "There is no such post.")
	case a.Code != schema.CodeOK:
		return a, schema.UnknownCode(a.Code)
	}
	return a, nil
}
