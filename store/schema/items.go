package schema

import (
	"cosmosblog/internal/blog"
)

// Values of the property type of items. Copies of posts in users and feed are of TypePost too.
const (
	TypeUser    = "user"
	TypePost    = "post"
	TypeComment = "comment"
	TypeLike    = "like"
)

// UserItem is a user in users. Username is empty until the user's first reservation is complete.
// Until then, the user is not visible.
type UserItem struct {
	ID              string        `json:"id"`
	UserID          string        `json:"userId"`
	Type            string        `json:"type"`
	Username        string        `json:"username"`
	PendingUsername string        `json:"pendingUsername,omitempty"` // announced, but not yet taken
	CreationDate    blog.DateTime `json:"creationDate"`
	// PostCount is the number of live copies in this partition. It changes in the same transactions
	// as the copies.
	PostCount int   `json:"postCount"`
	Revision  int64 `json:"revision"` // unchanged by PostCount
	Deleted   bool  `json:"deleted,omitempty"`
	TTL       int32 `json:"ttl,omitempty"` // set with Deleted once nothing else of the user is left
}

// User returns the user of the item.
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

// Visible reports whether the item is a user who has a username and is not deleted.
func (i *UserItem) Visible() bool { return i.Type == TypeUser && i.Username != "" && !i.Deleted }

// Gone reports whether the user's deletion is complete: only this tombstone is left.
func (i *UserItem) Gone() bool { return i.Deleted && i.TTL > 0 }

// PostItem is a post in posts, and the short copy of a post in users and feed. Copies have no
// content.
type PostItem struct {
	ID             string        `json:"id"`
	PostID         string        `json:"postId"`
	UserID         string        `json:"userId"`
	Type           string        `json:"type"`
	UserUsername   string        `json:"userUsername"`
	AuthorRevision int64         `json:"authorRevision"` // the author's, with UserUsername
	Title          string        `json:"title"`
	Content        string        `json:"content,omitempty"`
	Excerpt        string        `json:"excerpt"`
	CommentCount   int           `json:"commentCount"`
	LikeCount      int           `json:"likeCount"`
	CreationDate   blog.DateTime `json:"creationDate"`
	UpdatedDate    blog.DateTime `json:"updatedDate,omitempty"` // absent before the first edit
	Version        int           `json:"version"`
	Edits          []string      `json:"edits,omitempty"` // ids of the latest edits, oldest first; not in copies
	Revision       int64         `json:"revision"`
	Deleted        bool          `json:"deleted"`
	InputHash      string        `json:"inputHash,omitempty"`
	TTL            int32         `json:"ttl,omitempty"` // in seconds; 0: never expires
}

// NewPostItem returns the item of a new post. Author.ID, Username and Revision must be set.
func NewPostItem(post *blog.Post) *PostItem {
	return &PostItem{
		ID:             post.ID,
		PostID:         post.ID,
		UserID:         post.Author.ID,
		Type:           TypePost,
		UserUsername:   post.Author.Username,
		AuthorRevision: post.Author.Revision,
		Title:          post.Title,
		Content:        post.Content,
		Excerpt:        blog.Excerpt(post.Content),
		CreationDate:   post.CreationDate,
		Version:        1,
		Revision:       1,
	}
}

// Post returns the post of the item.
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

// ViewSource returns the post as the views copy it: without content, and with the revision of its
// author's username.
func (i *PostItem) ViewSource() *blog.Post {
	post := i.Post()
	post.ID = i.ID // the id of its copies
	post.Content = ""
	post.Author.Revision = i.AuthorRevision
	return post
}

// Visible reports whether the item is a post that is not deleted.
func (i *PostItem) Visible() bool { return i.Type == TypePost && !i.Deleted }

// SetAuthor sets the author's username and its revision.
func (i *PostItem) SetAuthor(user *UserItem) {
	i.UserUsername, i.AuthorRevision = user.Username, user.Revision
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

// NewCommentItem returns the item of a new comment, as the script createComment writes it for a
// command without an idempotency key.
func NewCommentItem(postID string, comment *blog.Comment) CommentItem {
	return CommentItem{
		ID:             comment.ID,
		PostID:         postID,
		Type:           TypeComment,
		UserID:         comment.Author.ID,
		UserUsername:   comment.Author.Username,
		AuthorRevision: comment.Author.Revision,
		Content:        comment.Content,
		CreationDate:   comment.CreationDate,
	}
}

// Comment returns the comment of the item with a given post, whole or a reference.
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

// SetAuthor sets the author's username and its revision.
func (i *CommentItem) SetAuthor(user *UserItem) {
	i.UserUsername, i.AuthorRevision = user.Username, user.Revision
}

// LikeItem is a like in its post's partition of posts. Its id is the user's id.
type LikeItem struct {
	ID             string        `json:"id"`
	PostID         string        `json:"postId"`
	Type           string        `json:"type"`
	UserID         string        `json:"userId"`
	UserUsername   string        `json:"userUsername"`
	AuthorRevision int64         `json:"authorRevision"`
	CreationDate   blog.DateTime `json:"creationDate"`
}

// NewLikeItem returns the item of a new like, as the script createLike writes it.
func NewLikeItem(postID string, like *blog.Like) LikeItem {
	return LikeItem{
		ID:             like.User.ID,
		PostID:         postID,
		Type:           TypeLike,
		UserID:         like.User.ID,
		UserUsername:   like.User.Username,
		AuthorRevision: like.User.Revision,
		CreationDate:   like.CreationDate,
	}
}

// Like returns the like of the item with a given post, whole or a reference.
func (i *LikeItem) Like(post *blog.Post) *blog.Like {
	return &blog.Like{
		Post:         post,
		User:         &blog.User{ID: i.UserID, Username: i.UserUsername},
		CreationDate: i.CreationDate,
	}
}

// SetAuthor sets the user's username and its revision.
func (i *LikeItem) SetAuthor(user *UserItem) {
	i.UserUsername, i.AuthorRevision = user.Username, user.Revision
}

// ReservationItem is the reservation of a username in usernames. Its id is the normalized
// username.
type ReservationItem struct {
	ID           string        `json:"id"`
	UserID       string        `json:"userId"`
	CreationDate blog.DateTime `json:"creationDate"` // of the latest reservation
}

// PostID is the row of a query for post ids.
type PostID struct {
	PostID string `json:"postId"`
}
