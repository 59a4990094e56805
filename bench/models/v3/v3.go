// Package v3 is the third model of Microsoft's article: V2 with short copies of posts where posts
// are listed. Each post has a copy beside its author in users (partition key /userId). The 100 most
// recent posts also have one in feed (/type). Copies have only the beginning of the content. The
// change feed of posts leads to the copies, and the post-trigger truncateFeed keeps the feed short.
// Every query asks one partition.
package v3

import (
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

// user is an item of users whose id is its userId.
type user struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"` // user; the copies of posts in users have another one
	UserID       string        `json:"userId"`
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

// post is a post: an item of posts whose id is its postId. Its copies in users and feed have the
// same properties, but only the beginning of the content.
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
	//go:embed truncateFeed.js
	truncateFeedBody string

	createComment   = cosmos.Script{ID: "createComment", Container: "posts", Body: createCommentBody}
	createLike      = cosmos.Script{ID: "createLike", Container: "posts", Body: createLikeBody}
	updateUsernames = cosmos.Script{ID: "updateUsernames", Container: "posts", Body: updateUsernamesBody}
	truncateFeed    = cosmos.Script{ID: "truncateFeed", Container: "feed", Body: truncateFeedBody, Trigger: true}
)

// Model is V3 in a database.
type Model struct {
	db                 *cosmos.DB
	users, posts, feed *azcosmos.ContainerClient
	clock              models.Clock
	ids                blog.IDSource
	readUsers          []string // how far Follow has read the change feed of each range of users
	readPosts          []string // the same of posts
}

// New creates the containers, procedures and the trigger of V3 in an empty database. The throughput
// of each of users and posts, and that of feed, are in RU/s.
func New(ctx context.Context, db *cosmos.DB, throughput, feedThroughput int32) (*Model, error) {
	if err := models.CreateContainer(ctx, db, "users", "/userId", throughput, "/type"); err != nil {
		return nil, err
	}
	if err := models.CreateContainer(ctx, db, "posts", "/postId", throughput, "/type", "/userId"); err != nil {
		return nil, err
	}
	if err := models.CreateContainer(ctx, db, "feed", "/type", feedThroughput); err != nil {
		return nil, err
	}
	for _, script := range []cosmos.Script{createComment, createLike, updateUsernames, truncateFeed} {
		if _, err := db.RegisterScript(ctx, script); err != nil {
			return nil, err
		}
	}
	return &Model{db: db, users: db.Container("users"), posts: db.Container("posts"), feed: db.Container("feed")}, nil
}

// Load implements models.Model.
func (m *Model) Load(ctx context.Context, set *seed.Set) error {
	err := models.Each(ctx, set.Users(), func(ctx context.Context, n int) error {
		u := set.User(n)
		return models.WriteItems(ctx, m.users, u.ID, []any{user{u.ID, "user", u.ID, u.Username, u.CreationDate}})
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
	// The posts, comments and likes already have the usernames.
	if err := changes(ctx, m.users, &m.readUsers, func([]user) error { return nil }); err != nil {
		return err
	}
	return m.followPosts(ctx)
}

// Follow implements models.Model. Usernames come first, because they change posts.
func (m *Model) Follow(ctx context.Context) error {
	if err := m.followUsers(ctx); err != nil {
		return err
	}
	return m.followPosts(ctx)
}

// followUsers executes updateUsernames in each partition of posts that has an item with a former
// username.
func (m *Model) followUsers(ctx context.Context) error {
	return changes(ctx, m.users, &m.readUsers, func(changed []user) error {
		for _, u := range changed {
			if u.Type != "user" {
				continue
			}
			if err := m.updateUsernames(ctx, u); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *Model) updateUsernames(ctx context.Context, u user) error {
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
}

// followPosts writes the copies of each post that changed.
func (m *Model) followPosts(ctx context.Context) error {
	return changes(ctx, m.posts, &m.readPosts, func(changed []post) error {
		return models.Each(ctx, len(changed), func(ctx context.Context, i int) error {
			if changed[i].Type != "post" {
				return nil
			}
			return m.copyPost(ctx, changed[i])
		})
	})
}

// copyPost writes both copies of a post. The one in the feed stays only if it is among the most
// recent.
func (m *Model) copyPost(ctx context.Context, p post) error {
	p.Content = blog.Excerpt(p.Content)
	text, err := cosmos.EncodeItem(p)
	if err != nil {
		return err
	}
	if _, err := m.users.UpsertItem(ctx, azcosmos.NewPartitionKeyString(p.UserID), text, nil); err != nil {
		return err
	}
	_, err = m.feed.UpsertItem(ctx, azcosmos.NewPartitionKeyString(p.Type), text, cosmos.WithTrigger(truncateFeed))
	return err
}

// changes calls handle with the items of a container that changed since the last call, a page at a
// time. read has a position in the change feed of each range of the container.
func changes[T any](ctx context.Context, c *azcosmos.ContainerClient, read *[]string, handle func([]T) error) error {
	ranges, err := c.ReadFeedRanges(ctx, nil)
	if err != nil {
		return err
	}
	if *read == nil {
		*read = make([]string, len(ranges))
	}
	for i := range ranges {
		for {
			options := azcosmos.ChangeFeedOptions{FeedRange: &ranges[i], MaxItemCount: 1000}
			if (*read)[i] != "" {
				options.Continuation = &(*read)[i]
			}
			page, err := c.ReadChangeFeed(ctx, &options)
			if err != nil {
				return err
			}
			if len(page.Items) == 0 {
				break
			}
			changed := make([]T, len(page.Items))
			for n, text := range page.Items {
				if err := cosmos.Decode(text, &changed[n]); err != nil {
					return err
				}
			}
			if err := handle(changed); err != nil {
				return err
			}
			(*read)[i] = page.ContinuationToken
		}
	}
	return nil
}

// CreateUser is C1: one write.
func (m *Model) CreateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	_, err := cosmos.Create(ctx, m.users, userID, user{userID, "user", userID, username, m.clock.Date()})
	return &blog.User{ID: userID, Username: username}, err
}

// RenameUser is C1: one write, which Follow carries to the user's posts, comments and likes, and to
// the copies of the posts.
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

// CreatePost is C2: one write. Follow writes the copies.
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

// short returns the post of a copy.
func (p *post) short() *blog.Post {
	return &blog.Post{
		ID: p.ID, Author: &blog.User{ID: p.UserID, Username: p.UserUsername}, PostHead: blog.PostHead{Title: p.Title, Excerpt: p.Content},
		CommentCount: p.CommentCount, LikeCount: p.LikeCount, CreationDate: p.CreationDate,
	}
}

// UserPosts is Q3: a query of the user's partition.
func (m *Model) UserPosts(ctx context.Context, userID string) ([]*blog.Post, error) {
	return listPosts(ctx, m.users, userID,
		"SELECT TOP 100 * FROM c WHERE c.userId = @partition AND c.type = 'post' ORDER BY c.creationDate DESC")
}

// Feed is Q6: a query of the only partition of feed.
func (m *Model) Feed(ctx context.Context) ([]*blog.Post, error) {
	return listPosts(ctx, m.feed, "post", "SELECT TOP 100 * FROM c WHERE c.type = @partition ORDER BY c.creationDate DESC")
}

// listPosts returns the posts of a query of a partition with copies.
func listPosts(ctx context.Context, c *azcosmos.ContainerClient, partition, query string) ([]*blog.Post, error) {
	copies, err := cosmos.Query[post](ctx, c, partition, query, blog.MaxPageSize,
		azcosmos.QueryParameter{Name: "@partition", Value: partition})
	posts := make([]*blog.Post, len(copies))
	for i := range copies {
		posts[i] = copies[i].short()
	}
	return posts, err
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
