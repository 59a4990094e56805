// Package v2 is the second model of Microsoft's article: V1 with the author's username on posts,
// comments and likes, and with both counts on posts. The stored procedures createComment and
// createLike keep the counts exact. After a rename, the change feed of users leads to
// updateUsernames. The lists of posts still query all partitions.
package v2

import (
	"cmp"
	"context"
	_ "embed"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/bench/models"
	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/seed"
)

// user is an item of users.
type user struct {
	ID           string        `json:"id"`
	Username     string        `json:"username"`
	CreationDate blog.DateTime `json:"creationDate"`
}

// item is a comment or a like, and without the counts of a post. A like's id is its user's.
type item struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"` // post, comment or like
	PostID       string        `json:"postId"`
	UserID       string        `json:"userId"`
	UserUsername string        `json:"userUsername"`
	Title        string        `json:"title,omitempty"`
	Content      string        `json:"content,omitempty"`
	CreationDate blog.DateTime `json:"creationDate"`
}

// post is a post: an item of posts whose id is its postId.
type post struct {
	item
	CommentCount int `json:"commentCount"`
	LikeCount    int `json:"likeCount"`
}

var (
	//go:embed createComment.js
	createCommentBody string
	//go:embed createLike.js
	createLikeBody string
	//go:embed updateUsernames.js
	updateUsernamesBody string

	createComment   = cosmos.Script{ID: "createComment", Container: "posts", Body: createCommentBody}
	createLike      = cosmos.Script{ID: "createLike", Container: "posts", Body: createLikeBody}
	updateUsernames = cosmos.Script{ID: "updateUsernames", Container: "posts", Body: updateUsernamesBody}
)

// Model is V2 in a database.
type Model struct {
	db           *cosmos.DB
	users, posts *azcosmos.ContainerClient
	clock        models.Clock
	ids          blog.IDSource
	read         []string // how far Follow has read the change feed of each range of users
}

// New creates the containers and procedures of V2 in an empty database. The throughput of each
// container is in RU/s.
func New(ctx context.Context, db *cosmos.DB, throughput int32) (*Model, error) {
	if err := models.CreateContainer(ctx, db, "users", "/id", throughput); err != nil {
		return nil, err
	}
	if err := models.CreateContainer(ctx, db, "posts", "/postId", throughput, "/type", "/userId"); err != nil {
		return nil, err
	}
	for _, script := range []cosmos.Script{createComment, createLike, updateUsernames} {
		if _, err := db.RegisterScript(ctx, script); err != nil {
			return nil, err
		}
	}
	return &Model{db: db, users: db.Container("users"), posts: db.Container("posts")}, nil
}

// Load implements models.Model.
func (m *Model) Load(ctx context.Context, set *seed.Set) error {
	err := models.Each(ctx, set.Users(), func(ctx context.Context, n int) error {
		u := set.User(n)
		return models.WriteItems(ctx, m.users, u.ID, []any{user{u.ID, u.Username, u.CreationDate}})
	})
	if err != nil {
		return err
	}
	err = models.EachThread(ctx, set, func(ctx context.Context, p *blog.Post, comments []*blog.Comment, likes []*blog.Like) error {
		items := []any{post{item{p.ID, "post", p.ID, p.Author.ID, p.Author.Username, p.Title, p.Content, p.CreationDate}, len(comments), len(likes)}}
		for _, c := range comments {
			items = append(items, item{c.ID, "comment", p.ID, c.Author.ID, c.Author.Username, "", c.Content, c.CreationDate})
		}
		for _, l := range likes {
			items = append(items, item{l.User.ID, "like", p.ID, l.User.ID, l.User.Username, "", "", l.CreationDate})
		}
		return models.WriteItems(ctx, m.posts, p.ID, items)
	})
	if err != nil {
		return err
	}
	return m.changes(ctx, func(user) error { return nil }) // the copies have these usernames
}

// Follow implements models.Model: updateUsernames in each partition of posts that has an item with
// a former username.
func (m *Model) Follow(ctx context.Context) error {
	return m.changes(ctx, func(u user) error {
		found, err := models.QueryEach[string](ctx, m.posts,
			"SELECT VALUE c.postId FROM c WHERE c.userId = @userId AND c.userUsername != @username",
			azcosmos.QueryParameter{Name: "@userId", Value: u.ID}, azcosmos.QueryParameter{Name: "@username", Value: u.Username})
		if err != nil {
			return err
		}
		slices.Sort(found)
		found = slices.Compact(found)
		return models.Each(ctx, len(found), func(ctx context.Context, i int) error {
			var updated int
			_, err := m.db.Execute(ctx, updateUsernames, found[i], u, &updated)
			return err
		})
	})
}

// changes calls handle for each user that changed since the last call.
func (m *Model) changes(ctx context.Context, handle func(user) error) error {
	ranges, err := m.users.ReadFeedRanges(ctx, nil)
	if err != nil {
		return err
	}
	if m.read == nil {
		m.read = make([]string, len(ranges))
	}
	for i := range ranges {
		for {
			options := azcosmos.ChangeFeedOptions{FeedRange: &ranges[i], MaxItemCount: 1000}
			if m.read[i] != "" {
				options.Continuation = &m.read[i]
			}
			page, err := m.users.ReadChangeFeed(ctx, &options)
			if err != nil {
				return err
			}
			m.read[i] = page.ContinuationToken
			if len(page.Items) == 0 {
				break
			}
			for _, text := range page.Items {
				var u user
				if err := cosmos.Decode(text, &u); err != nil {
					return err
				}
				if err := handle(u); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// CreateUser is C1: one write.
func (m *Model) CreateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	_, err := cosmos.Create(ctx, m.users, userID, user{userID, username, m.clock.Date()})
	return &blog.User{ID: userID, Username: username}, err
}

// RenameUser is C1: one write, which Follow carries to the user's posts, comments and likes.
func (m *Model) RenameUser(ctx context.Context, userID, username string) error {
	var change azcosmos.PatchOperations
	change.AppendSet("/username", username)
	_, err := cosmos.Patch(ctx, m.users, userID, userID, change, azcore.ETagAny)
	return err
}

// User is Q1: a point read.
func (m *Model) User(ctx context.Context, userID string) (*blog.User, error) {
	u, _, err := cosmos.Read[user](ctx, m.users, userID, userID)
	if err != nil {
		return nil, err
	}
	return &blog.User{ID: u.ID, Username: u.Username, CreationDate: u.CreationDate}, nil
}

// CreatePost is C2: one write.
func (m *Model) CreatePost(ctx context.Context, author *blog.User, title, content string) (*blog.Post, error) {
	id := m.ids.NewPostID("", "")
	_, err := cosmos.Create(ctx, m.posts, id, post{item: item{id, "post", id, author.ID, author.Username, title, content, m.clock.Date()}})
	return &blog.Post{ID: id, Author: author, PostHead: blog.PostHead{Title: title}, Content: content}, err
}

// Post is Q2: a point read.
func (m *Model) Post(ctx context.Context, postID string) (*blog.Post, error) {
	p, _, err := cosmos.Read[post](ctx, m.posts, postID, postID)
	if err != nil {
		return nil, err
	}
	whole := p.short()
	whole.Content, whole.Excerpt = p.Content, ""
	return whole, nil
}

// short returns a post in short form.
func (p *post) short() *blog.Post {
	return &blog.Post{
		ID: p.ID, Author: &blog.User{ID: p.UserID, Username: p.UserUsername}, PostHead: blog.PostHead{Title: p.Title, Excerpt: blog.Excerpt(p.Content)},
		CommentCount: p.CommentCount, LikeCount: p.LikeCount, CreationDate: p.CreationDate,
	}
}

// UserPosts is Q3: a query of all partitions.
func (m *Model) UserPosts(ctx context.Context, userID string) ([]*blog.Post, error) {
	return m.listPosts(ctx, "SELECT TOP 100 * FROM c WHERE c.type = 'post' AND c.userId = @userId ORDER BY c.creationDate DESC",
		azcosmos.QueryParameter{Name: "@userId", Value: userID})
}

// Feed is Q6: a query of all partitions.
func (m *Model) Feed(ctx context.Context) ([]*blog.Post, error) {
	return m.listPosts(ctx, "SELECT TOP 100 * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC")
}

// listPosts merges the newest posts of each physical partition.
func (m *Model) listPosts(ctx context.Context, query string, parameters ...azcosmos.QueryParameter) ([]*blog.Post, error) {
	items, err := models.QueryEach[post](ctx, m.posts, query, parameters...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(a, b post) int { return cmp.Compare(b.CreationDate, a.CreationDate) })
	posts := make([]*blog.Post, min(len(items), blog.MaxPageSize))
	for i := range posts {
		posts[i] = items[i].short()
	}
	return posts, nil
}

// CreateComment is C3: one execution of createComment.
func (m *Model) CreateComment(ctx context.Context, author *blog.User, postID, content string) (*blog.Comment, error) {
	id := m.ids.NewCommentID("", postID, "")
	comment := item{id, "comment", postID, author.ID, author.Username, "", content, m.clock.Date()}
	_, err := m.db.Execute(ctx, createComment, postID, comment, nil)
	return &blog.Comment{ID: id, Author: author, Content: content}, err
}

// Comments is Q4: a query of the post's partition.
func (m *Model) Comments(ctx context.Context, postID string) ([]*blog.Comment, error) {
	items, err := m.list(ctx, postID, "comment", "ASC")
	comments := make([]*blog.Comment, len(items))
	for i, c := range items {
		comments[i] = &blog.Comment{ID: c.ID, Author: &blog.User{ID: c.UserID, Username: c.UserUsername}, Content: c.Content, CreationDate: c.CreationDate}
	}
	return comments, err
}

// LikePost is C4: one execution of createLike.
func (m *Model) LikePost(ctx context.Context, u *blog.User, postID string) error {
	_, err := m.db.Execute(ctx, createLike, postID, item{u.ID, "like", postID, u.ID, u.Username, "", "", m.clock.Date()}, nil)
	return err
}

// Likes is Q5: a query of the post's partition.
func (m *Model) Likes(ctx context.Context, postID string) ([]*blog.Like, error) {
	items, err := m.list(ctx, postID, "like", "DESC")
	likes := make([]*blog.Like, len(items))
	for i, l := range items {
		likes[i] = &blog.Like{User: &blog.User{ID: l.UserID, Username: l.UserUsername}, CreationDate: l.CreationDate}
	}
	return likes, err
}

// list returns the items of a type of a post's partition by date.
func (m *Model) list(ctx context.Context, postID, kind, order string) ([]item, error) {
	return cosmos.Query[item](ctx, m.posts, postID,
		"SELECT TOP 100 * FROM c WHERE c.postId = @postId AND c.type = @type ORDER BY c.creationDate "+order, blog.MaxPageSize,
		azcosmos.QueryParameter{Name: "@postId", Value: postID}, azcosmos.QueryParameter{Name: "@type", Value: kind})
}
