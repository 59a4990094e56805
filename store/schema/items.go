package schema

import (
	"cmp"
	"slices"

	"cosmosblog/blog"
)

// Values of the property type of items. Copies of posts in users and feed, and their entries in
// lists, are of TypePost too.
//
// TypeTombstone is the type of a deleted comment in posts, of the copy of a deleted post in users,
// and of what has left a list in lists. No list queries it, so no list pays for deleted items. It
// sorts after the types of comments, likes and posts: queries for several of these types exclude it
// by a range. In feed, the type is the partition key, so tombstones there are of TypePost. Its
// lists query the property deleted instead.
const (
	TypeUser      = "user"
	TypePost      = "post"
	TypeComment   = "comment"
	TypeContent   = "content"
	TypeLike      = "like"
	TypeTombstone = "tombstone"
)

// SortKey returns the property sortKey of an item that lists sort: a post, a comment, a like, a
// copy or an entry. Its order is that of the dates, and of the ids of one date. Dates have a fixed
// length, and the separator sorts before every digit. So the key of an empty id is before all
// others of its date, and that of an empty date before those of all dates.
func SortKey(date blog.DateTime, id string) string { return string(date) + "/" + id }

// MaxInlineContent is the size in bytes of UTF-8 up to which a content is a property of its post.
// A longer one is a ContentItem, because every like, comment and rename rewrites the whole post.
// docs/benchmarks.md has the measurement behind the number.
const MaxInlineContent = 8 << 10

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
// content, and no ContentVersion.
type PostItem struct {
	ID             string `json:"id"`
	PostID         string `json:"postId"`
	UserID         string `json:"userId"`
	Type           string `json:"type"`
	UserUsername   string `json:"userUsername"`
	AuthorRevision int64  `json:"authorRevision"` // the author's, with UserUsername

	blog.PostHead  `json:"head"`
	Content        string `json:"content,omitempty"`
	ContentVersion int    `json:"contentVersion,omitempty"` // of the ContentItem; 0 if there is none
	CommentCount   int    `json:"commentCount"`
	// RecentComments are the newest comments, newest first, at most blog.MaxRecentComments. They
	// change in the same transactions as the comments.
	RecentComments []RecentComment `json:"recentComments"`
	// LastCommentDate is the date of the comment that was created last, even if it was deleted. It is
	// absent before the first, and in copies.
	LastCommentDate blog.DateTime `json:"lastCommentDate,omitempty"`
	LikeCount       int           `json:"likeCount"`
	CreationDate    blog.DateTime `json:"creationDate"`
	SortKey         string        `json:"sortKey"`
	UpdatedDate     blog.DateTime `json:"updatedDate,omitempty"` // absent before the first edit
	Version         int           `json:"version"`
	Edits           []string      `json:"edits,omitempty"` // ids of the latest edits, oldest first; not in copies
	Revision        int64         `json:"revision"`
	Deleted         bool          `json:"deleted"`
	InputHash       string        `json:"inputHash,omitempty"`
	TTL             int32         `json:"ttl,omitempty"`      // in seconds; 0: never expires
	AuthorID        string        `json:"authorId,omitempty"` // replaces UserID if there is a TTL
}

// FeedItem is the copy of a post in feed.
type FeedItem struct {
	PostItem
	// ArrivalDate is the time at which the post came into the feed. No two posts have the same, and a
	// transaction that comes later has a later one. It is absent if a refill wrote the copy.
	ArrivalDate blog.DateTime `json:"arrivalDate,omitempty"`
}

// HorizonID is the id of the horizon in feed (views.Horizon).
const HorizonID = "horizon"

// ArrivalsItem is what the horizon knows of arrivals. Each transaction that creates copies in feed
// writes it.
type ArrivalsItem struct {
	LastArrival    blog.DateTime `json:"lastArrival,omitempty"`    // empty before the first
	TrimmedArrival blog.DateTime `json:"trimmedArrival,omitempty"` // the latest of the copies that were trimmed
}

// Writer returns the id of the user who wrote the post. A deleted post with a ttl has no UserID,
// because chores find the items of a user by that property.
func (i *PostItem) Writer() string { return cmp.Or(i.UserID, i.AuthorID) }

// NewPostItem returns the item of a new post. Author.ID, Username and Revision must be set. If the
// content is too long for the item, it also returns the item of the content; otherwise nil. Both
// must be written in one transaction.
func NewPostItem(post *blog.Post) (*PostItem, *ContentItem) {
	item := &PostItem{
		ID:             post.ID,
		PostID:         post.ID,
		UserID:         post.Author.ID,
		Type:           TypePost,
		UserUsername:   post.Author.Username,
		AuthorRevision: post.Author.Revision,
		PostHead:       post.PostHead,
		Content:        post.Content,
		RecentComments: []RecentComment{},
		CreationDate:   post.CreationDate,
		SortKey:        SortKey(post.CreationDate, post.ID),
		Version:        1,
		Revision:       1,
	}
	item.SetContent(post.Content)
	if IsInline(post.Content) {
		return item, nil
	}
	item.Content, item.ContentVersion = "", item.Version
	return item, NewContentItem(post.ID, post.Content, item.Version)
}

// IsInline reports whether a content is a property of its post.
func IsInline(content string) bool { return len(content) <= MaxInlineContent }

// HasContentItem reports whether the content of a post, not of a copy, is an item of its own.
func (i *PostItem) HasContentItem() bool { return i.ContentVersion > 0 }

// Post returns the post of the item.
func (i *PostItem) Post() *blog.Post {
	post := &blog.Post{
		ID:             i.PostID,
		Author:         &blog.User{ID: i.Writer(), Username: i.UserUsername, Revision: i.AuthorRevision},
		PostHead:       i.PostHead,
		Content:        i.Content,
		ContentVersion: i.ContentVersion,
		CommentCount:   i.CommentCount,
		LikeCount:      i.LikeCount,
		CreationDate:   i.CreationDate,
		UpdatedDate:    i.UpdatedDate,
		Version:        i.Version,
		Revision:       i.Revision,
		Deleted:        i.Deleted,
	}
	post.RecentComments = make([]*blog.Comment, len(i.RecentComments))
	for n := range i.RecentComments {
		post.RecentComments[n] = i.RecentComments[n].comment(post)
	}
	return post
}

// ViewSource returns the post as the views copy it: without content.
func (i *PostItem) ViewSource() *blog.Post {
	post := i.Post()
	post.ID = i.ID // the id of its copies
	post.Content, post.ContentVersion = "", 0
	return post
}

// Visible reports whether the item is a post that is not deleted.
func (i *PostItem) Visible() bool { return i.Type == TypePost && !i.Deleted }

// ContentItem is the content of a post that is longer than MaxInlineContent, beside the post in
// posts. It belongs to the state of the post whose ContentVersion equals its Version. There is one
// exactly if the post has a ContentVersion: both change in one transaction. It has no userId, so
// that renames and deletions of users do not find it; a purge deletes it with its post.
type ContentItem struct {
	ID      string `json:"id"` // ContentID
	PostID  string `json:"postId"`
	Type    string `json:"type"`
	Content string `json:"content"`
	Version int    `json:"version"` // the post's, after the edit that wrote the content
}

// ContentID is the id of each ContentItem in its partition. No comment, like or post has it.
const ContentID = "content"

// NewContentItem returns the item of a content that an edit wrote as a version of its post.
func NewContentItem(postID, content string, version int) *ContentItem {
	return &ContentItem{ID: ContentID, PostID: postID, Type: TypeContent, Content: content, Version: version}
}

// CommentItem is a comment in its post's partition of posts. A deleted comment is of TypeTombstone.
type CommentItem struct {
	ID             string        `json:"id"`
	PostID         string        `json:"postId"`
	Type           string        `json:"type"`
	UserID         string        `json:"userId"`
	UserUsername   string        `json:"userUsername"`
	AuthorRevision int64         `json:"authorRevision"`
	Content        string        `json:"content"`
	Excerpt        string        `json:"excerpt,omitempty"` // absent if it equals the content
	CreationDate   blog.DateTime `json:"creationDate"`
	SortKey        string        `json:"sortKey"`
	UpdatedDate    blog.DateTime `json:"updatedDate,omitempty"` // absent before the first edit
	Deleted        bool          `json:"deleted"`
	InputHash      string        `json:"inputHash,omitempty"`
	TTL            int32         `json:"ttl,omitempty"`
	AuthorID       string        `json:"authorId,omitempty"` // replaces UserID if there is a TTL
}

// Writer returns the id of the user who wrote the comment, deleted or not.
func (i *CommentItem) Writer() string { return cmp.Or(i.UserID, i.AuthorID) }

// NewCommentItem returns the item of a new comment without an idempotency key. The script
// createComment may give it a later date.
func NewCommentItem(postID string, comment *blog.Comment) CommentItem {
	return CommentItem{
		ID:             comment.ID,
		PostID:         postID,
		Type:           TypeComment,
		UserID:         comment.Author.ID,
		UserUsername:   comment.Author.Username,
		AuthorRevision: comment.Author.Revision,
		Content:        comment.Content,
		Excerpt:        CommentExcerpt(comment.Content),
		CreationDate:   comment.CreationDate,
		SortKey:        SortKey(comment.CreationDate, comment.ID),
	}
}

// CommentExcerpt returns the property excerpt of a comment: empty if it equals the content.
func CommentExcerpt(content string) string {
	excerpt := blog.CommentExcerpt(content)
	if excerpt == content {
		return ""
	}
	return excerpt
}

// Recent returns what a post stores of the comment.
func (i *CommentItem) Recent() RecentComment {
	return RecentComment{
		ID:             i.ID,
		UserID:         i.Writer(),
		UserUsername:   i.UserUsername,
		AuthorRevision: i.AuthorRevision,
		Excerpt:        cmp.Or(i.Excerpt, i.Content),
		CreationDate:   i.CreationDate,
		UpdatedDate:    i.UpdatedDate,
	}
}

// RecentComment is one of the newest comments of a post, as the post and its copies store it.
type RecentComment struct {
	ID             string        `json:"id"`
	UserID         string        `json:"userId"`
	UserUsername   string        `json:"userUsername"`
	AuthorRevision int64         `json:"authorRevision"`
	Excerpt        string        `json:"excerpt"`
	CreationDate   blog.DateTime `json:"creationDate"`
	UpdatedDate    blog.DateTime `json:"updatedDate,omitempty"`
}

// comment returns the comment, without its content, but with the revision of its author's username.
func (c *RecentComment) comment(post *blog.Post) *blog.Comment {
	return &blog.Comment{
		ID:           c.ID,
		Post:         post,
		Author:       &blog.User{ID: c.UserID, Username: c.UserUsername, Revision: c.AuthorRevision},
		Excerpt:      c.Excerpt,
		CreationDate: c.CreationDate,
		UpdatedDate:  c.UpdatedDate,
	}
}

// RecentCommentsOf returns the property recentComments of a post.
func RecentCommentsOf(post *blog.Post) []RecentComment {
	recent := make([]RecentComment, len(post.RecentComments))
	for n, c := range post.RecentComments {
		recent[n] = RecentComment{
			ID:             c.ID,
			UserID:         c.Author.ID,
			UserUsername:   c.Author.Username,
			AuthorRevision: c.Author.Revision,
			Excerpt:        c.Excerpt,
			CreationDate:   c.CreationDate,
			UpdatedDate:    c.UpdatedDate,
		}
	}
	return recent
}

// NewestComments returns the newest of several comments, newest first, at most
// blog.MaxRecentComments: what their post stores.
func NewestComments(comments []RecentComment) []RecentComment {
	newest := append([]RecentComment{}, comments...)
	slices.SortFunc(newest, func(a, b RecentComment) int {
		return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
	})
	return newest[:min(len(newest), blog.MaxRecentComments)]
}

// Comment returns the comment of the item with a given post, whole or a reference.
func (i *CommentItem) Comment(post *blog.Post) *blog.Comment {
	return &blog.Comment{
		ID:           i.ID,
		Post:         post,
		Author:       &blog.User{ID: i.Writer(), Username: i.UserUsername, Revision: i.AuthorRevision},
		Content:      i.Content,
		Excerpt:      cmp.Or(i.Excerpt, i.Content),
		CreationDate: i.CreationDate,
		UpdatedDate:  i.UpdatedDate,
	}
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
	SortKey        string        `json:"sortKey"`
}

// NewLikeItem returns the item of a new like.
func NewLikeItem(postID string, like *blog.Like) LikeItem {
	return LikeItem{
		ID:             like.User.ID,
		PostID:         postID,
		Type:           TypeLike,
		UserID:         like.User.ID,
		UserUsername:   like.User.Username,
		AuthorRevision: like.User.Revision,
		CreationDate:   like.CreationDate,
		SortKey:        SortKey(like.CreationDate, like.User.ID),
	}
}

// Like returns the like of the item with a given post, whole or a reference.
func (i *LikeItem) Like(post *blog.Post) *blog.Like {
	return &blog.Like{
		Post:         post,
		User:         &blog.User{ID: i.UserID, Username: i.UserUsername, Revision: i.AuthorRevision},
		CreationDate: i.CreationDate,
	}
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

// ResponseID is the row of a query for the ids of comments and likes.
type ResponseID struct {
	ID string `json:"id"`
}
