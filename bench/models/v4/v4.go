// Package v4 is the model that this project serves: the article's third model, with large contents
// stored beside their posts and the newest comments embedded. It is package store with its
// projector.
package v4

import (
	"context"
	"log/slog"
	"os"
	"time"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/seed"
)

// Model is V4 in a database.
type Model struct {
	*store.Store
	db *cosmos.DB
}

// New creates what the program needs in an empty database. The throughputs are as for provision.
func New(ctx context.Context, db *cosmos.DB, throughputs provision.Throughputs) (*Model, error) {
	_, err := provision.Run(ctx, db, provision.Options{Throughputs: throughputs})
	return &Model{store.New(db), db}, err
}

// Load implements models.Model.
func (m *Model) Load(ctx context.Context, set *seed.Set) error {
	if err := set.Write(ctx, m.db, nil); err != nil {
		return err
	}
	return m.Follow(ctx)
}

// settleTime is the time between the two passes of a rename. No command runs beside Follow, so that
// there is nothing to wait for.
const settleTime = time.Millisecond

// Follow implements models.Model: it runs a projector until nothing is left to do.
func (m *Model) Follow(ctx context.Context) error {
	p, err := projector.New(projector.Options{
		DB: m.db, Owner: "bench", TakeOver: true, SettleTime: settleTime, PageSize: 1000, Poll: 20 * time.Millisecond,
		Renew: 100 * time.Millisecond, Balance: 100 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- p.Run(running) }()
	err = m.wait(ctx)
	stop()
	<-ended
	return err
}

// wait waits until the projector has handled all changes, and the sweeps that follow from them.
func (m *Model) wait(ctx context.Context) error {
	feeds, pending := changefeed.New(m.db), chores.New(m.db)
	for range 2 { // a sweep changes items too
		ends, err := feeds.ReadEnds(ctx)
		if err != nil {
			return err
		}
		err = until(ctx, func() (int, error) { return feeds.CountBehind(ctx, ends) })
		if err != nil {
			return err
		}
		err = until(ctx, func() (int, error) {
			sweeps, err := pending.Sweeps(ctx)
			return len(sweeps), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// until calls left until it returns 0.
func until(ctx context.Context, left func() (int, error)) error {
	for {
		if n, err := left(); n == 0 || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// CreateUser is C1: the user and a reservation of the username.
func (m *Model) CreateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	return m.CreateUserAt(ctx, userID, username, "")
}

// RenameUser is C1: a rename, which Follow carries to the user's posts, comments, likes and copies.
func (m *Model) RenameUser(ctx context.Context, userID, username string) error {
	_, err := m.UpdateUser(ctx, userID, username)
	return err
}

// CreatePost is C2: one execution of createPost. Follow writes the copies.
func (m *Model) CreatePost(ctx context.Context, author *blog.User, title, content string) (*blog.Post, error) {
	return m.Store.CreatePost(ctx, author, blog.CreatePostInput{Title: title, Content: content})
}

// UserPosts is Q3: a query of the user's partition.
func (m *Model) UserPosts(ctx context.Context, userID string) ([]*blog.Post, error) {
	page, err := m.Store.UserPosts(ctx, userID, blog.PageRequest{First: blog.MaxPageSize})
	return page.Items, err
}

// CreateComment is C3: one execution of createComment.
func (m *Model) CreateComment(ctx context.Context, author *blog.User, postID, content string) (*blog.Comment, error) {
	return m.Store.CreateComment(ctx, author, blog.CreateCommentInput{PostID: blog.PostRef(postID), Content: content})
}

// Comments is Q4: a query of the post's partition.
func (m *Model) Comments(ctx context.Context, postID string) ([]*blog.Comment, error) {
	page, err := m.Store.Comments(ctx, postID, blog.PageRequest{First: blog.MaxPageSize})
	return page.Items, err
}

// LikePost is C4: one execution of createLike.
func (m *Model) LikePost(ctx context.Context, user *blog.User, postID string) error {
	_, err := m.Store.LikePost(ctx, user, postID)
	return err
}

// Likes is Q5: a query of the post's partition.
func (m *Model) Likes(ctx context.Context, postID string) ([]*blog.Like, error) {
	page, err := m.Store.Likes(ctx, postID, blog.PageRequest{First: blog.MaxPageSize})
	return page.Items, err
}

// Feed is Q6: a query of one partition of feed.
func (m *Model) Feed(ctx context.Context) ([]*blog.Post, error) {
	page, err := m.Store.Feed(ctx, blog.PageRequest{First: blog.MaxPageSize})
	return page.Items, err
}
