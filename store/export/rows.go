package export

import (
	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// Names of the tables, which are also the names of their folders.
const (
	UsersTable    = "users"
	PostsTable    = "posts"
	TagsTable     = "tags"
	CommentsTable = "comments"
	LikesTable    = "likes"
)

// tableNames are all tables, in the order in which the files of a batch come into the folder. The
// posts are last: a reader uses tags and likes only if a post has their Sequence. Whoever reads
// between two files therefore still sees the tags and likes of before.
var tableNames = []string{LikesTable, TagsTable, CommentsTable, UsersTable, PostsTable}

// Each row of the files is one state of something, and Sequence is the number of the state. A later
// state has a greater number. Changed is the date of the last write of the item, which may be that
// of a like, a rename or a chore. Dates are microseconds since 1970 in UTC; those of Changed are
// whole seconds.

// User is a row of users. Its key is UserID.
type User struct {
	UserID       string  `parquet:"user_id"`
	Username     *string `parquet:"username,optional"` // absent if the user is deleted
	CreationDate int64   `parquet:"creation_date,timestamp(microsecond:local)"`
	Deleted      bool    `parquet:"deleted"`
	Changed      int64   `parquet:"changed,timestamp(microsecond:local)"`
	Sequence     int64   `parquet:"sequence,delta"`
}

// Post is a row of posts. Its key is PostID.
type Post struct {
	PostID            string  `parquet:"post_id"`
	AuthorID          string  `parquet:"author_id"`
	blog.PostHead             // absent if the post is deleted
	Content           *string `parquet:"content,optional"` // absent if the post is deleted, or its content is missing
	ContentBytes      int64   `parquet:"content_bytes"`    // of UTF-8
	ContentCharacters int64   `parquet:"content_characters"`
	CommentCount      int64   `parquet:"comment_count"`
	LikeCount         int64   `parquet:"like_count"`
	CreationDate      int64   `parquet:"creation_date,timestamp(microsecond:local)"`
	UpdatedDate       *int64  `parquet:"updated_date,optional,timestamp(microsecond:local)"` // absent before the first edit
	Version           int64   `parquet:"version"`                                            // of title, content and tags; begins with 1
	Deleted           bool    `parquet:"deleted"`
	Changed           int64   `parquet:"changed,timestamp(microsecond:local)"`
	Sequence          int64   `parquet:"sequence,delta"`
}

// Tag is a row of tags: a post had a tag in the state with the same Sequence. Its key is PostID
// with Name.
type Tag struct {
	PostID   string `parquet:"post_id,dict"`
	Name     string `parquet:"tag,dict"`
	Sequence int64  `parquet:"sequence,delta"` // that of the row of posts
}

// Comment is a row of comments. Its key is PostID with CommentID. Comments of a deleted post get no
// further rows.
type Comment struct {
	PostID       string  `parquet:"post_id,dict"`
	CommentID    string  `parquet:"comment_id"`
	AuthorID     string  `parquet:"author_id"`
	Content      *string `parquet:"content,optional"` // absent if the comment is deleted
	CreationDate int64   `parquet:"creation_date,timestamp(microsecond:local)"`
	UpdatedDate  *int64  `parquet:"updated_date,optional,timestamp(microsecond:local)"` // absent before the first edit
	Deleted      bool    `parquet:"deleted"`
	Changed      int64   `parquet:"changed,timestamp(microsecond:local)"`
	Sequence     int64   `parquet:"sequence,delta"`
}

// Like is a row of likes: a post had a like when the row of posts with the same Sequence was
// written, or soon after. Its key is PostID with UserID.
type Like struct {
	PostID       string `parquet:"post_id,dict"`
	UserID       string `parquet:"user_id"`
	CreationDate int64  `parquet:"creation_date,timestamp(microsecond:local)"`
	Sequence     int64  `parquet:"sequence,delta"` // that of the row of posts
}

// size returns the approximate number of bytes of a row before it is encoded.
func (r User) size() int { return 64 + len(r.UserID) + length(r.Username) }
func (r Post) size() int {
	return 128 + len(r.PostID) + len(r.AuthorID) + len(r.Title) + length(r.Content)
}
func (r Tag) size() int { return 32 + len(r.PostID) + len(r.Name) }
func (r Comment) size() int {
	return 96 + len(r.PostID) + len(r.CommentID) + len(r.AuthorID) + length(r.Content)
}
func (r Like) size() int { return 32 + len(r.PostID) + len(r.UserID) }

func length(s *string) int {
	if s == nil {
		return 0
	}
	return len(*s)
}

// userRow returns the row of a user. ok is false for one who has never been visible.
func userRow(item *schema.UserItem, changed, sequence int64) (row User, ok bool) {
	row = User{
		UserID:       item.UserID,
		CreationDate: microseconds(item.CreationDate),
		Deleted:      item.Deleted,
		Changed:      changed,
		Sequence:     sequence,
	}
	if !item.Deleted {
		row.Username = &item.Username
	}
	return row, item.Deleted || item.Visible()
}

// postRow returns the row of a post with its content, which may be an item of its own, or missing.
func postRow(item *schema.PostItem, content *string, changed, sequence int64) Post {
	row := Post{
		PostID:            item.PostID,
		AuthorID:          item.Writer(),
		ContentBytes:      int64(item.ContentSize.Bytes()),
		ContentCharacters: int64(item.ContentSize.Characters()),
		CommentCount:      int64(item.CommentCount),
		LikeCount:         int64(item.LikeCount),
		CreationDate:      microseconds(item.CreationDate),
		UpdatedDate:       optionalMicroseconds(item.UpdatedDate),
		Version:           int64(item.Version),
		Deleted:           item.Deleted,
		Changed:           changed,
		Sequence:          sequence,
	}
	if !item.Deleted {
		row.PostHead, row.Content = item.PostHead, content
	}
	return row
}

func commentRow(item *schema.CommentItem, changed, sequence int64) Comment {
	row := Comment{
		PostID:       item.PostID,
		CommentID:    item.ID,
		AuthorID:     item.Writer(),
		CreationDate: microseconds(item.CreationDate),
		UpdatedDate:  optionalMicroseconds(item.UpdatedDate),
		Deleted:      item.Deleted || item.Type == schema.TypeTombstone,
		Changed:      changed,
		Sequence:     sequence,
	}
	if !row.Deleted {
		row.Content = &item.Content
	}
	return row
}

func likeRow(postID string, item *schema.LikeItem, sequence int64) Like {
	return Like{PostID: postID, UserID: item.UserID, CreationDate: microseconds(item.CreationDate), Sequence: sequence}
}

func microseconds(date blog.DateTime) int64 { return date.Time().UnixMicro() }

func optionalMicroseconds(date blog.DateTime) *int64 {
	if date == "" {
		return nil
	}
	n := microseconds(date)
	return &n
}
