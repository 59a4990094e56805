package chores

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// changedAnswer is the answer of a stored procedure that changes several items.
type changedAnswer struct {
	Code    string `json:"code"`
	Updated int    `json:"updated"` // how many items changed
	More    bool   `json:"more"`    // updateUsernames: execute it again, with the Continuation

	Continuation string `json:"continuation"`
}

type updateUsernamesArgument struct {
	PostID         string `json:"postId"`
	UserID         string `json:"userId"`
	Username       string `json:"username"`
	AuthorRevision int64  `json:"authorRevision"`
	Limit          int    `json:"limit"` // of items
	Continuation   string `json:"continuation,omitempty"`
}

// postArgument is the argument of restoreRecentComments.
type postArgument struct {
	PostID string `json:"postId"`
}

// updateUsernames writes the username of the argument to all items of a user in one partition of
// posts that have an earlier revision of the user, and to the recent comments of its post. It
// returns the number of changed items. If more is true, it must be executed again, with the
// continuation that it sets in the argument: an execution changes at most as many items as the
// argument's limit, and as it has time for.
func (c *Chores) updateUsernames(ctx context.Context, argument *updateUsernamesArgument) (updated int, more bool, err error) {
	a, err := c.execute(ctx, schema.UpdateUsernames, argument.PostID, argument)
	argument.Continuation = a.Continuation // after an error, from the beginning
	return a.Updated, a.More, err
}

// RestoreRecentComments sets the recent comments of a post to its newest comments, if they are
// wrong. A corrected post has changed. Error: NOT_FOUND if there is no such post, or it is deleted.
func (c *Chores) RestoreRecentComments(ctx context.Context, postID string) error {
	_, err := c.execute(ctx, schema.RestoreRecent, postID, postArgument{postID})
	return err
}

// execute executes a stored procedure in a post's partition. Error: *schema.MissingError if it is
// not registered.
func (c *Chores) execute(ctx context.Context, procedure cosmos.Script, postID string, argument any) (a changedAnswer, err error) {
	_, err = schema.Execute(ctx, c.db, procedure, postID, argument, &a)
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
