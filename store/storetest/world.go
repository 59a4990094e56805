// Package storetest is the test harness of store and its packages: an embedded engine in memory,
// faults to inject, and shortcuts to plant and compare items.
package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/bulk"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/embedded"
	"cosmosblog/store/provision"
	"cosmosblog/store/views"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func (c *StillClock) Date() blog.DateTime { return blog.NewDateTime(c.Now()) }

// World is an embedded engine in memory with one server's packages on it. Its clock stands still
// until a test advances it, and its requests can be made to fail.
type World struct {
	*Database

	T      *testing.T
	Engine *embedded.Engine
	Clock  *StillClock
	Faults *Faults
}

// Database is a database with the packages that tests call most.
type Database struct {
	DB *cosmos.DB
	*store.Store
	*changefeed.Feeds
	*views.Views
	*bulk.Writer
}

// Open returns the packages of a database.
func Open(db *cosmos.DB) *Database {
	return &Database{db, store.New(db), changefeed.New(db), views.New(db), bulk.New(db)}
}

// New opens an engine in memory, and looks at the end of the test whether it is whole.
func New(t *testing.T) *World { return NewWith(t, embedded.Options{}) }

func NewWith(t *testing.T, options embedded.Options) *World {
	t.Helper()
	clock := NewStillClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	options.Now = clock.Now
	engine, err := embedded.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Check(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return (&World{T: t, Engine: engine, Clock: clock}).Another()
}

// Another is a second server on the same engine: a Store of its own with faults of its own.
func (w *World) Another() *World {
	w.T.Helper()
	other := &World{T: w.T, Engine: w.Engine, Clock: w.Clock, Faults: &Faults{next: cosmos.InProcess(w.Engine)}}
	db, err := provision.OpenEmbedded(w.T.Context(), w.Engine, cosmos.Options{
		Transport: other.Faults,
		Now:       w.Clock.Now,
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(db.Close)
	other.Database = Open(db)
	return other
}

// Container returns the client of a container.
func (w *World) Container(name string) *azcosmos.ContainerClient { return w.DB.Container(name) }

// On is the same world for a part of the test.
func (w *World) On(t *testing.T) *World {
	part := *w
	part.T = t
	return &part
}

func (w *World) Ctx() context.Context { return w.T.Context() }

// AddUser makes the user of an account with the same subject as username.
func (w *World) AddUser(username string) *blog.User {
	w.T.Helper()
	user, err := w.CreateUser(w.Ctx(), Account(username), username)
	w.OK(err)
	return user
}

func Account(subject string) blog.Account { return blog.Account{Issuer: "test", Subject: subject} }

func (w *World) AddPost(author *blog.User) *blog.Post {
	w.T.Helper()
	post, err := w.CreatePost(w.Ctx(), author, blog.PostInput{Title: "A title", Content: "Some content."})
	w.OK(err)
	return post
}

func (w *World) AddComment(author *blog.User, post *blog.Post) *blog.Comment {
	w.T.Helper()
	comment, err := w.CreateComment(w.Ctx(), author, blog.CommentInput{PostID: post.ID, Content: "A comment."})
	w.OK(err)
	return comment
}

// HoldsCounts holds the post's counters to the given ones, and both to the items that they count.
func (w *World) HoldsCounts(postID string, comments, likes int) {
	w.T.Helper()
	post, err := w.Post(w.Ctx(), postID)
	w.OK(err)
	if post.CommentCount != comments || post.LikeCount != likes {
		w.T.Errorf("the post counts %d comments and %d likes, want %d and %d",
			post.CommentCount, post.LikeCount, comments, likes)
	}
	if n := len(ListAll(w, postID, w.Comments)); n != comments {
		w.T.Errorf("the post has %d comments, want %d", n, comments)
	}
	if n := len(ListAll(w, postID, w.Likes)); n != likes {
		w.T.Errorf("the post has %d likes, want %d", n, likes)
	}
}

// ListAll reads a whole list, page by page.
func ListAll[T any](w *World, id string, list func(context.Context, string, blog.PageRequest) (blog.Page[T], error)) []T {
	w.T.Helper()
	var all []T
	request := blog.PageRequest{First: 7}
	for {
		page, err := list(w.Ctx(), id, request)
		w.OK(err)
		all = append(all, page.Items...)
		if !page.HasNextPage {
			return all
		}
		request.After = &page.Positions[len(page.Positions)-1]
	}
}

func (w *World) OK(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Fails holds an error to a code.
func (w *World) Fails(err error, code blog.Code) {
	w.T.Helper()
	if err == nil || blog.CodeOf(err) != code {
		w.T.Fatalf("the error is %v, want %s", err, code)
	}
}

// StillClock stands still until it is moved.
type StillClock struct {
	mu   sync.Mutex
	time time.Time
}

func (c *StillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *StillClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
}

// NewStillClock returns a clock that stands at a time.
func NewStillClock(now time.Time) *StillClock { return &StillClock{time: now} }
