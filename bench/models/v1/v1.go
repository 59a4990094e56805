// Package v1 is the first model of Microsoft's article: containers users (partition key /id) and
// posts (/postId), without copies of anything. A post is in one partition with its comments and
// likes. Usernames and counts are looked up by further requests, and the lists of posts query all
// partitions.
package v1

import (
	"cmp"
	"context"
	"fmt"
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

// item is a post, a comment or a like: an item of posts. A post's id is its postId, and a like's is
// its user's.
type item struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"` // post, comment or like
	PostID       string        `json:"postId"`
	UserID       string        `json:"userId"`
	Title        string        `json:"title,omitempty"`
	Content      string        `json:"content,omitempty"`
	CreationDate blog.DateTime `json:"creationDate"`
}

// Model is V1 in a database.
type Model struct {
	users, posts *azcosmos.ContainerClient
	clock        models.Clock
	ids          blog.IDSource
}

// New creates the containers of V1 in an empty database, each with a throughput in RU/s.
func New(ctx context.Context, db *cosmos.DB, throughput int32) (*Model, error) {
	if err := models.CreateContainer(ctx, db, "users", "/id", throughput); err != nil {
		return nil, err
	}
	if err := models.CreateContainer(ctx, db, "posts", "/postId", throughput, "/type", "/userId"); err != nil {
		return nil, err
	}
	return &Model{users: db.Container("users"), posts: db.Container("posts")}, nil
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
	return models.EachThread(ctx, set, func(ctx context.Context, p *blog.Post, comments []*blog.Comment, likes []*blog.Like) error {
		items := []any{item{p.ID, "post", p.ID, p.Author.ID, p.Title, p.Content, p.CreationDate}}
		for _, c := range comments {
			items = append(items, item{c.ID, "comment", p.ID, c.Author.ID, "", c.Content, c.CreationDate})
		}
		for _, l := range likes {
			items = append(items, item{l.User.ID, "like", p.ID, l.User.ID, "", "", l.CreationDate})
		}
		return models.WriteItems(ctx, m.posts, p.ID, items)
	})
}

// Follow implements models.Model. There are no copies.
func (m *Model) Follow(context.Context) error { return nil }

// CreateUser is C1: one write.
func (m *Model) CreateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	_, err := cosmos.Create(ctx, m.users, userID, user{userID, username, m.clock.Date()})
	return &blog.User{ID: userID, Username: username}, err
}

// RenameUser is C1: one write.
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
	_, err := cosmos.Create(ctx, m.posts, id, item{id, "post", id, author.ID, title, content, m.clock.Date()})
	return &blog.Post{ID: id, Author: author, PostHead: blog.PostHead{Title: title}, Content: content}, err
}

// Post is Q2: a point read, and then one request for the author and one for each count.
func (m *Model) Post(ctx context.Context, postID string) (*blog.Post, error) {
	p, _, err := cosmos.Read[item](ctx, m.posts, postID, postID)
	if err != nil {
		return nil, err
	}
	post := &blog.Post{ID: p.ID, Author: &blog.User{ID: p.UserID}, PostHead: blog.PostHead{Title: p.Title}, Content: p.Content, CreationDate: p.CreationDate}
	return post, m.complete(ctx, post)
}

// complete looks up the usernames of posts' authors, and counts the posts' comments and likes.
func (m *Model) complete(ctx context.Context, posts ...*blog.Post) error {
	authors := map[string]*blog.User{}
	for _, p := range posts {
		if authors[p.Author.ID] == nil {
			authors[p.Author.ID] = p.Author
		}
		p.Author = authors[p.Author.ID]
	}
	if err := m.name(ctx, authors); err != nil {
		return err
	}
	return models.Each(ctx, 2*len(posts), func(ctx context.Context, i int) (err error) {
		if post := posts[i/2]; i%2 == 0 {
			post.CommentCount, err = m.count(ctx, post.ID, "comment")
		} else {
			post.LikeCount, err = m.count(ctx, post.ID, "like")
		}
		return err
	})
}

// name looks up the usernames of users by id: a point read for each.
func (m *Model) name(ctx context.Context, users map[string]*blog.User) error {
	list := make([]*blog.User, 0, len(users))
	for _, u := range users {
		list = append(list, u)
	}
	return models.Each(ctx, len(list), func(ctx context.Context, i int) error {
		u, err := m.User(ctx, list[i].ID)
		if err == nil {
			list[i].Username = u.Username
		}
		return err
	})
}

// count counts the items of a type in a post's partition.
func (m *Model) count(ctx context.Context, postID, kind string) (int, error) {
	counts, err := cosmos.Query[int](ctx, m.posts, postID,
		"SELECT VALUE COUNT(1) FROM c WHERE c.postId = @postId AND c.type = @type", 1,
		azcosmos.QueryParameter{Name: "@postId", Value: postID}, azcosmos.QueryParameter{Name: "@type", Value: kind})
	if err == nil && len(counts) != 1 {
		err = fmt.Errorf("%d results of a count", len(counts))
	}
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// UserPosts is Q3: a query of all partitions, one request for the author, and two for each post.
func (m *Model) UserPosts(ctx context.Context, userID string) ([]*blog.Post, error) {
	return m.listPosts(ctx, "SELECT TOP 100 * FROM c WHERE c.type = 'post' AND c.userId = @userId ORDER BY c.creationDate DESC",
		azcosmos.QueryParameter{Name: "@userId", Value: userID})
}

// Feed is Q6: a query of all partitions, one request for each author, and two for each post.
func (m *Model) Feed(ctx context.Context) ([]*blog.Post, error) {
	return m.listPosts(ctx, "SELECT TOP 100 * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC")
}

// listPosts merges the newest posts of each physical partition.
func (m *Model) listPosts(ctx context.Context, query string, parameters ...azcosmos.QueryParameter) ([]*blog.Post, error) {
	items, err := models.QueryEach[item](ctx, m.posts, query, parameters...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(b.CreationDate, a.CreationDate) })
	posts := make([]*blog.Post, min(len(items), blog.MaxPageSize))
	for i := range posts {
		p := items[i]
		posts[i] = &blog.Post{ID: p.ID, Author: &blog.User{ID: p.UserID}, PostHead: blog.PostHead{Title: p.Title, Excerpt: blog.Excerpt(p.Content)}, CreationDate: p.CreationDate}
	}
	return posts, m.complete(ctx, posts...)
}

// CreateComment is C3: one write.
func (m *Model) CreateComment(ctx context.Context, author *blog.User, postID, content string) (*blog.Comment, error) {
	id := m.ids.NewCommentID("", postID, "")
	_, err := cosmos.Create(ctx, m.posts, postID, item{id, "comment", postID, author.ID, "", content, m.clock.Date()})
	return &blog.Comment{ID: id, Author: author, Content: content}, err
}

// Comments is Q4: a query of the post's partition, and then one request for each author.
func (m *Model) Comments(ctx context.Context, postID string) ([]*blog.Comment, error) {
	items, authors, err := m.list(ctx, postID, "comment", "ASC")
	if err != nil {
		return nil, err
	}
	comments := make([]*blog.Comment, len(items))
	for i, c := range items {
		comments[i] = &blog.Comment{ID: c.ID, Author: authors[c.UserID], Content: c.Content, CreationDate: c.CreationDate}
	}
	return comments, nil
}

// LikePost is C4: one write.
func (m *Model) LikePost(ctx context.Context, u *blog.User, postID string) error {
	_, err := cosmos.Create(ctx, m.posts, postID, item{u.ID, "like", postID, u.ID, "", "", m.clock.Date()})
	return err
}

// Likes is Q5: a query of the post's partition, and then one request for each user.
func (m *Model) Likes(ctx context.Context, postID string) ([]*blog.Like, error) {
	items, users, err := m.list(ctx, postID, "like", "DESC")
	if err != nil {
		return nil, err
	}
	likes := make([]*blog.Like, len(items))
	for i, l := range items {
		likes[i] = &blog.Like{User: users[l.UserID], CreationDate: l.CreationDate}
	}
	return likes, nil
}

// list returns the items of a type of a post's partition by date, and their users with usernames.
func (m *Model) list(ctx context.Context, postID, kind, order string) ([]item, map[string]*blog.User, error) {
	items, err := cosmos.Query[item](ctx, m.posts, postID,
		"SELECT TOP 100 * FROM c WHERE c.postId = @postId AND c.type = @type ORDER BY c.creationDate "+order, blog.MaxPageSize,
		azcosmos.QueryParameter{Name: "@postId", Value: postID}, azcosmos.QueryParameter{Name: "@type", Value: kind})
	if err != nil {
		return nil, nil, err
	}
	users := map[string]*blog.User{}
	for _, i := range items {
		users[i.UserID] = &blog.User{ID: i.UserID}
	}
	return items, users, m.name(ctx, users)
}
