// Package blog is the domain: users, posts, comments and likes, the rules they keep, and the one vocabulary of errors.
// It imports the standard library alone. GraphQL binds to its types directly, and store writes them into items.
package blog

// User is somebody who writes, comments and likes. On a post, a comment or a like it is a reference that carries only
// ID and Username, as they stand on that item; Loaded tells the two apart.
type User struct {
	ID           string
	Username     string
	CreationDate DateTime
	// PostCount is how many posts the user has, as their list shows them. It is counted, and no change of the user.
	PostCount int
	// Revision goes up by one at every write of the user. Copies of the username carry it as their authorRevision.
	Revision int64
	Deleted  bool // the user is being deleted, or was
}

// Loaded tells whether u is the whole user, not a reference from another item.
func (u *User) Loaded() bool { return u.CreationDate != "" }

// Post is a blog post. Three shapes of it are about: whole; from a list, where Content is empty and Excerpt is there;
// and a reference that carries only the ID.
type Post struct {
	ID           string
	Author       *User
	Title        string
	Content      string // the whole text; empty where ContentLoaded is false
	Excerpt      string // the beginning of the content, see Excerpt
	CommentCount int
	LikeCount    int
	CreationDate DateTime
	UpdatedDate  DateTime // of the last edit of title or content; empty before the first
	Version      int      // counts edits of title and content, from 1
	Revision     int64    // counts writes of any kind, from 1
	Deleted      bool
}

// Loaded tells whether p is more than a reference.
func (p *Post) Loaded() bool { return p.CreationDate != "" }

// ContentLoaded tells whether Content is there: every post has at least one byte of it.
func (p *Post) ContentLoaded() bool { return p.Content != "" }

// Comment is what somebody says to a post.
type Comment struct {
	ID           string
	Post         *Post // a reference, or the whole post where it was read with the comment
	Author       *User // a reference
	Content      string
	CreationDate DateTime
	UpdatedDate  DateTime // of the last edit; empty before the first
}

// Like is one user's liking of one post: there is at most one for each pair.
type Like struct {
	Post         *Post // as on a Comment
	User         *User // a reference
	CreationDate DateTime
}

// ID is the id of the like in its post's partition: its user's id, so that nobody likes a post twice.
func (l *Like) ID() string { return l.User.ID }

// Ref gives the user's global id.
func (u *User) Ref() Ref { return Ref{TypeUser, u.ID, u.ID} }

// Ref gives the post's global id.
func (p *Post) Ref() Ref { return Ref{TypePost, p.ID, p.ID} }

// Ref gives the comment's global id.
func (c *Comment) Ref() Ref { return Ref{TypeComment, c.Post.ID, c.ID} }

// Ref gives the like's global id.
func (l *Like) Ref() Ref { return Ref{TypeLike, l.Post.ID, l.User.ID} }

// FeedLength is how many posts the feed shows (the article keeps "the 100 most recent posts").
const FeedLength = 100
