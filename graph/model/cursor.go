package model

import (
	"strconv"
	"strings"

	"cosmosblog/internal/blog"
)

// List names one list of the API. Cursors contain it, so a list rejects the cursors of another.
type List string

// FeedList names the feed.
const FeedList List = "feed"

// UserPostsList names the list of a user's posts.
func UserPostsList(userID string) List { return List("posts." + userID) }

// CommentsList names the list of a post's comments.
func CommentsList(postID string) List { return List("comments." + postID) }

// LikesList names the list of a post's likes.
func LikesList(postID string) List { return List("likes." + postID) }

// A cursor is the base64url of five parts: version, list, creation date, id and rank. No part
// contains the separator.
//
// Cursors are not signed. A client that forges one can request any position of a list, and
// positions are not secret. A forged smaller rank shows posts of the feed beyond the 100th,
// which the container keeps in reserve. These posts are public: their authors' lists show them
// too.
const (
	cursorVersion   = "v1"
	cursorSeparator = "/"
	maxCursorLength = 1024 // bytes; cursors hold two ids, a date and a rank, and are much shorter
)

// Cursor returns the opaque cursor of a position in the list.
func (l List) Cursor(p blog.Position) string {
	text := strings.Join([]string{cursorVersion, string(l), string(p.CreationDate), p.ID, strconv.Itoa(p.Rank)}, cursorSeparator)
	return encoding.EncodeToString([]byte(text))
}

// Position parses a cursor of the list. Error: BAD_USER_INPUT for any other text, including a
// cursor of another list.
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
	errBadCursor = blog.Errorf(blog.BadUserInput, "`after` is not a valid cursor. Use an edge's `cursor` or `pageInfo.endCursor`.")
	errOtherList = blog.Errorf(blog.BadUserInput, "`after` is the cursor of another list.")
)

// PageRequest checks and parses the arguments of a list. `first` must be 1 to 100; nil means 20.
// A nil `after` means the beginning of the list. Error: BAD_USER_INPUT.
func (l List) PageRequest(first *int, after *string) (blog.PageRequest, error) {
	request := blog.PageRequest{First: blog.DefaultPageSize}
	if first != nil {
		request.First = *first
	}
	if request.First < 1 || request.First > blog.MaxPageSize {
		return request, blog.Errorf(blog.BadUserInput, "`first` must be 1 to %d.", blog.MaxPageSize)
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
