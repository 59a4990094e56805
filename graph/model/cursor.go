package model

import (
	"strconv"
	"strings"

	"cosmosblog/internal/blog"
)

// List names one list of the API, so that the cursor of one is not taken for another's.
type List string

// FeedList is the feed.
const FeedList List = "feed"

// UserPostsList is the list of a user's posts.
func UserPostsList(userID string) List { return List("posts." + userID) }

// CommentsList is the list of a post's comments.
func CommentsList(postID string) List { return List("comments." + postID) }

// LikesList is the list of a post's likes.
func LikesList(postID string) List { return List("likes." + postID) }

// A cursor is, in base64url: its version, the list, the date, the id and the rank. Neither ids nor dates hold the
// separator. It is not signed: whoever takes it apart can ask for any place of a list, which is no secret. The feed's rank
// is the client's word too: one that is made smaller shows what the container keeps in reserve beyond the 100th post,
// nothing that its author's list does not show.
const (
	cursorVersion   = "v1"
	cursorSeparator = "/"
	maxCursorLength = 1024 // far above what Cursor gives (two ids, a date and a rank)
)

// Cursor gives the opaque text of a position in the list.
func (l List) Cursor(p blog.Position) string {
	text := strings.Join([]string{cursorVersion, string(l), string(p.CreationDate), p.ID, strconv.Itoa(p.Rank)}, cursorSeparator)
	return encoding.EncodeToString([]byte(text))
}

// Position reads a cursor of the list. Error: BAD_USER_INPUT for anything else, another list's cursor too.
func (l List) Position(cursor string) (blog.Position, error) {
	if len(cursor) > maxCursorLength {
		return blog.Position{}, errBadCursor
	}
	text, err := encoding.DecodeString(cursor)
	if err != nil {
		return blog.Position{}, errBadCursor
	}
	parts := strings.Split(string(text), cursorSeparator)
	if len(parts) != 5 || parts[0] != cursorVersion {
		return blog.Position{}, errBadCursor
	}
	if parts[1] != string(l) {
		return blog.Position{}, errOtherList
	}
	position, err := parsePosition(l, parts[2], parts[3], parts[4])
	if err != nil || l.Cursor(position) != cursor {
		return blog.Position{}, errBadCursor
	}
	return position, nil
}

func parsePosition(l List, date, id, rank string) (blog.Position, error) {
	creationDate, err := blog.ParseDateTime(date)
	if err != nil || !blog.ValidID(id) {
		return blog.Position{}, errBadCursor
	}
	r, err := strconv.Atoi(rank)
	if err != nil || r < 0 || r > blog.FeedLength || (r > 0) != (l == FeedList) {
		return blog.Position{}, errBadCursor
	}
	return blog.Position{CreationDate: creationDate, ID: id, Rank: r}, nil
}

var (
	errBadCursor = blog.Errorf(blog.BadUserInput, "`after` is not a cursor of this API: take it from an edge's `cursor` or from `pageInfo.endCursor`.")
	errOtherList = blog.Errorf(blog.BadUserInput, "`after` is a cursor of another list.")
)

// PageRequest holds the arguments of a list to the rules: `first` is 1 to 100, 20 where it is nil. Error: BAD_USER_INPUT.
func (l List) PageRequest(first *int, after *string) (blog.PageRequest, error) {
	request := blog.PageRequest{First: blog.DefaultPageSize}
	if first != nil {
		request.First = *first
	}
	if request.First < 1 || request.First > blog.MaxPageSize {
		return request, blog.Errorf(blog.BadUserInput, "`first` is at least 1 and at most %d.", blog.MaxPageSize)
	}
	if after == nil {
		return request, nil
	}
	position, err := l.Position(*after)
	if err != nil {
		return request, err
	}
	request.After = &position
	return request, nil
}
