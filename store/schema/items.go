package schema

import (
	"cosmosblog/internal/blog"
)

// What the property "type" says of an item. The short copies of posts in users and feed are of typePost too.
const (
	TypeUser    = "user"
	TypePost    = "post"
	TypeComment = "comment"
	TypeLike    = "like"
)

// UserItem is a user in users. Username is empty until the first reservation is theirs: such a user is not visible.
type UserItem struct {
	ID              string        `json:"id"`
	UserID          string        `json:"userId"`
	Type            string        `json:"type"`
	Username        string        `json:"username"`
	PendingUsername string        `json:"pendingUsername,omitempty"` // what the user wants to be called
	CreationDate    blog.DateTime `json:"creationDate"`
	PostCount       int           `json:"postCount"` // the live copies in this partition, changed in one transaction with them
	Revision        int64         `json:"revision"`  // counting posts leaves it as it is
	Deleted         bool          `json:"deleted,omitempty"`
	TTL             int32         `json:"ttl,omitempty"` // with Deleted: nothing of the user is left
}

func (i *UserItem) User() *blog.User {
	return &blog.User{
		ID:           i.ID,
		Username:     i.Username,
		CreationDate: i.CreationDate,
		PostCount:    max(i.PostCount, 0),
		Revision:     i.Revision,
		Deleted:      i.Deleted,
	}
}

// PostItem is a post in posts, and its short copy in users and feed, which has no content.
type PostItem struct {
	ID             string        `json:"id"`
	PostID         string        `json:"postId"`
	UserID         string        `json:"userId"`
	Type           string        `json:"type"`
	UserUsername   string        `json:"userUsername"`
	AuthorRevision int64         `json:"authorRevision"` // the author's revision when the username was read
	Title          string        `json:"title"`
	Content        string        `json:"content,omitempty"`
	Excerpt        string        `json:"excerpt"`
	CommentCount   int           `json:"commentCount"`
	LikeCount      int           `json:"likeCount"`
	CreationDate   blog.DateTime `json:"creationDate"`
	UpdatedDate    blog.DateTime `json:"updatedDate,omitempty"` // absent before the first edit
	Version        int           `json:"version"`
	Revision       int64         `json:"revision"`
	Deleted        bool          `json:"deleted"`
	InputHash      string        `json:"inputHash,omitempty"`
	TTL            int32         `json:"ttl,omitempty"` // in seconds; 0: for ever
}

func (i *PostItem) Post() *blog.Post {
	return &blog.Post{
		ID:           i.PostID,
		Author:       &blog.User{ID: i.UserID, Username: i.UserUsername},
		Title:        i.Title,
		Content:      i.Content,
		Excerpt:      i.Excerpt,
		CommentCount: i.CommentCount,
		LikeCount:    i.LikeCount,
		CreationDate: i.CreationDate,
		UpdatedDate:  i.UpdatedDate,
		Version:      i.Version,
		Revision:     i.Revision,
		Deleted:      i.Deleted,
	}
}

// CommentItem is a comment in its post's partition of posts.
type CommentItem struct {
	ID             string        `json:"id"`
	PostID         string        `json:"postId"`
	Type           string        `json:"type"`
	UserID         string        `json:"userId"`
	UserUsername   string        `json:"userUsername"`
	AuthorRevision int64         `json:"authorRevision"`
	Content        string        `json:"content"`
	CreationDate   blog.DateTime `json:"creationDate"`
	UpdatedDate    blog.DateTime `json:"updatedDate,omitempty"` // absent before the first edit
	Deleted        bool          `json:"deleted"`
	InputHash      string        `json:"inputHash,omitempty"`
	TTL            int32         `json:"ttl,omitempty"`
}

// Comment gives the comment with post beside it: a reference, or the whole.
func (i *CommentItem) Comment(post *blog.Post) *blog.Comment {
	return &blog.Comment{
		ID:           i.ID,
		Post:         post,
		Author:       &blog.User{ID: i.UserID, Username: i.UserUsername},
		Content:      i.Content,
		CreationDate: i.CreationDate,
		UpdatedDate:  i.UpdatedDate,
	}
}

// LikeItem is a like in its post's partition of posts; its id is its user's.
type LikeItem struct {
	ID             string        `json:"id"`
	PostID         string        `json:"postId"`
	Type           string        `json:"type"`
	UserID         string        `json:"userId"`
	UserUsername   string        `json:"userUsername"`
	AuthorRevision int64         `json:"authorRevision"`
	CreationDate   blog.DateTime `json:"creationDate"`
}

func (i *LikeItem) Like(post *blog.Post) *blog.Like {
	return &blog.Like{
		Post:         post,
		User:         &blog.User{ID: i.UserID, Username: i.UserUsername},
		CreationDate: i.CreationDate,
	}
}

// ReservationItem is a username in usernames: its id is the normalized name.
type ReservationItem struct {
	ID           string        `json:"id"`
	UserID       string        `json:"userId"`
	CreationDate blog.DateTime `json:"creationDate"` // of the last time it was taken
}

// Visible tells whether i is a post that was not deleted.
func (i *PostItem) Visible() bool { return i.Type == TypePost && !i.Deleted }

type PostID struct {
	PostID string `json:"postId"`
}

// Visible tells whether i is a user who bears a name and was not deleted.
func (i *UserItem) Visible() bool { return i.Type == TypeUser && i.Username != "" && !i.Deleted }

// Gone tells whether i is what remains of a user of whom nothing else is left.
func (i *UserItem) Gone() bool { return i.Deleted && i.TTL > 0 }

// SetAuthor writes the username of a user, and the revision that it is from, on an item of theirs.
func (i *PostItem) SetAuthor(user *UserItem) {
	i.UserUsername, i.AuthorRevision = user.Username, user.Revision
}

// SetAuthor is PostItem.SetAuthor for a comment.
func (i *CommentItem) SetAuthor(user *UserItem) {
	i.UserUsername, i.AuthorRevision = user.Username, user.Revision
}

// SetAuthor is PostItem.SetAuthor for a like.
func (i *LikeItem) SetAuthor(user *UserItem) {
	i.UserUsername, i.AuthorRevision = user.Username, user.Revision
}
