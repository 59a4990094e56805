// Package blog is the domain: the types of users, posts, comments and likes, their rules, and
// the errors of the API. Besides the standard library, it imports Unicode's normal forms. The
// generated GraphQL code binds to its types directly, and package store maps them to items.
//
// This folder is not for other modules: it may change in any version.
package blog

import (
	"reflect"
	"time"
)

// User is an author of posts, comments and likes. On a post, a comment or a like, a User is a
// reference with only the ID, Username and Revision that the item carries. Loaded distinguishes the
// two.
type User struct {
	ID           string
	Username     string
	CreationDate DateTime
	// PostCount is the number of posts in the user's list. It is stored as a counter of the user's
	// short copies. A change of the counter does not change the Revision.
	PostCount int
	// Revision increases by one at every write of the user. Copies of the username store it as
	// their authorRevision.
	Revision int64
	Deleted  bool // the deletion has begun or is complete
	// ReadAt is the database's time before the user was read, or zero. Commands for the user must be
	// done within a deadline after it.
	ReadAt time.Time
}

// Loaded reports whether u is the whole user, not a reference from another item.
func (u *User) Loaded() bool { return u.CreationDate != "" }

// Post is a blog post. There are four forms: the whole post; a post without its Content, because it
// is from a list or the Content is long; an entry of the list of a tag or a month, which also lacks
// the counters and RecentComments; and a reference, which has only the ID.
type Post struct {
	ID     string
	Author *User
	PostHead
	Content string // the whole text; empty if ContentLoaded is false
	// ContentVersion is the version whose edit wrote a content that is stored apart, because it is
	// long. It is 0 for a short content, and on a post from a list.
	ContentVersion int
	// RecentComments are the newest comments, newest first, at most MaxRecentComments. They have no
	// Content. They are nil if CountsLoaded is false.
	RecentComments []*Comment
	CommentCount   int
	LikeCount      int
	CreationDate   DateTime
	UpdatedDate    DateTime // of the last edit of title, content or tags; empty before the first
	Version        int      // counts edits of title, content and tags, from 1
	Revision       int64    // counts writes of any kind, from 1
	Deleted        bool
}

// PostHead is what lists show of what the author of a post wrote. Items have it as one property,
// which an edit replaces: whatever it has is in every copy of the post, and in no query's index.
// The zero value of a field must be valid, because stored posts lack a new one.
//
// The tag parquet names the column of an export, or - for none. It is null if the value is zero.
type PostHead struct {
	Title       string   `json:"title" parquet:"title,optional"`
	Tags        []string `json:"tags,omitempty" parquet:"-"` // at most MaxTags, in the author's order; see CheckTag
	ContentSize TextSize `json:"size" parquet:"-"`           // of the whole content, loaded or not
	Excerpt     string   `json:"excerpt" parquet:"-"`        // the beginning of the content, see Excerpt
}

// Equal reports whether two heads are the same.
func (h PostHead) Equal(other PostHead) bool { return reflect.DeepEqual(h, other) }

// SetContent sets the fields that follow from the content.
func (h *PostHead) SetContent(content string) {
	h.ContentSize, h.Excerpt = SizeOf(content), Excerpt(content)
}

// Loaded reports whether p is more than a reference.
func (p *Post) Loaded() bool { return p.CreationDate != "" }

// ContentLoaded reports whether p has its Content. The content of a post is never empty.
func (p *Post) ContentLoaded() bool { return p.Content != "" }

// ContentLength returns the number of characters of the whole text, loaded or not.
func (p *Post) ContentLength() int { return p.ContentSize.Characters() }

// CountsLoaded reports whether p has its counters and RecentComments.
func (p *Post) CountsLoaded() bool { return p.RecentComments != nil }

// TagList returns the tags as objects.
func (p *Post) TagList() []*Tag {
	tags := make([]*Tag, len(p.Tags))
	for i, name := range p.Tags {
		tags[i] = &Tag{name}
	}
	return tags
}

// Lists returns the lists that a post belongs to: those of all ListKinds.
func (p *Post) Lists() []List {
	lists := make([]List, 0, 1+len(p.Tags))
	for _, kind := range ListKinds {
		for _, name := range kind.Of(p) {
			lists = append(lists, kind.List(name))
		}
	}
	return lists
}

// LacksContent reports whether p is the whole post except for its content, which is stored apart.
func (p *Post) LacksContent() bool { return p.ContentVersion > 0 && !p.ContentLoaded() }

// Comment is a comment on a post. It is whole, or has only what a post stores of its newest
// comments: everything but the Content.
type Comment struct {
	ID           string
	Post         *Post  // a reference, or the whole post if it was read with the comment
	Author       *User  // a reference
	Content      string // the whole text; empty if ContentLoaded is false
	Excerpt      string // the beginning of the content, see CommentExcerpt
	CreationDate DateTime
	UpdatedDate  DateTime // of the last edit; empty before the first
}

// ContentLoaded reports whether c has its Content. The content of a comment is never empty, except
// that of a comment whose deletion is complete.
func (c *Comment) ContentLoaded() bool { return c.Content != "" }

// Like is a like of a post by a user. There is at most one for each post and user.
type Like struct {
	Post         *Post // as on a Comment
	User         *User // a reference
	CreationDate DateTime
}

// ID returns the like's id in its post's partition: the user's id, so that a user cannot like a
// post twice.
func (l *Like) ID() string { return l.User.ID }

// Ref returns the user's global id.
func (u *User) Ref() Ref { return Ref{TypeUser, u.ID, u.ID} }

// Ref returns the post's global id.
func (p *Post) Ref() Ref { return PostRef(p.ID) }

// Ref returns the comment's global id.
func (c *Comment) Ref() Ref { return Ref{TypeComment, c.Post.ID, c.ID} }

// Ref returns the like's global id.
func (l *Like) Ref() Ref { return Ref{TypeLike, l.Post.ID, l.User.ID} }

// MaxRecentComments is the number of comments that a post stores.
const MaxRecentComments = 3

// FeedLength is the number of posts in the feed ("100 most recent posts" in Microsoft's article
// on modelling a blog).
const FeedLength = 100
