package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store/embedded"
)

// world is an engine, a clock that stands still until it is moved, and a Store whose requests can be made to fail.
type world struct {
	*Store
	t      *testing.T
	engine *embedded.Engine
	clock  *stillClock
	faults *faults
}

// newWorld opens an engine in memory, and looks at the end of the test whether it is whole.
func newWorld(t *testing.T) *world { return newWorldWith(t, embedded.Options{}) }

func newWorldWith(t *testing.T, options embedded.Options) *world {
	t.Helper()
	clock := &stillClock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
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
	return (&world{t: t, engine: engine, clock: clock}).another()
}

// another is a second server on the same engine: a Store of its own with faults of its own.
func (w *world) another() *world {
	w.t.Helper()
	other := &world{t: w.t, engine: w.engine, clock: w.clock, faults: &faults{next: InProcess(w.engine)}}
	store, err := OpenEmbedded(w.t.Context(), w.engine, Options{
		Transport: other.faults,
		Now:       w.clock.Now,
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(store.Close)
	other.Store = store
	return other
}

// on is the same world for a part of the test.
func (w *world) on(t *testing.T) *world {
	part := *w
	part.t = t
	return &part
}

func (w *world) ctx() context.Context { return w.t.Context() }

// user makes the user of an account with the same subject as username.
func (w *world) user(username string) *blog.User {
	w.t.Helper()
	user, err := w.CreateUser(w.ctx(), account(username), username)
	w.ok(err)
	return user
}

func account(subject string) blog.Account { return blog.Account{Issuer: "test", Subject: subject} }

func (w *world) post(author *blog.User) *blog.Post {
	w.t.Helper()
	post, err := w.CreatePost(w.ctx(), author, blog.PostInput{Title: "A title", Content: "Some content."})
	w.ok(err)
	return post
}

func (w *world) comment(author *blog.User, post *blog.Post) *blog.Comment {
	w.t.Helper()
	comment, err := w.CreateComment(w.ctx(), author, blog.CommentInput{PostID: post.ID, Content: "A comment."})
	w.ok(err)
	return comment
}

// counts holds the post's counters to the given ones, and both to the items that they count.
func (w *world) counts(postID string, comments, likes int) {
	w.t.Helper()
	post, err := w.Post(w.ctx(), postID)
	w.ok(err)
	if post.CommentCount != comments || post.LikeCount != likes {
		w.t.Errorf("the post counts %d comments and %d likes, want %d and %d",
			post.CommentCount, post.LikeCount, comments, likes)
	}
	if n := len(listAll(w, postID, w.Comments)); n != comments {
		w.t.Errorf("the post has %d comments, want %d", n, comments)
	}
	if n := len(listAll(w, postID, w.Likes)); n != likes {
		w.t.Errorf("the post has %d likes, want %d", n, likes)
	}
}

// listAll reads a whole list, page by page.
func listAll[T any](w *world, id string, list func(context.Context, string, blog.PageRequest) (blog.Page[T], error)) []T {
	w.t.Helper()
	var all []T
	request := blog.PageRequest{First: 7}
	for {
		page, err := list(w.ctx(), id, request)
		w.ok(err)
		all = append(all, page.Items...)
		if !page.HasNextPage {
			return all
		}
		request.After = &page.Positions[len(page.Positions)-1]
	}
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// fails holds an error to a code.
func (w *world) fails(err error, code blog.Code) {
	w.t.Helper()
	if err == nil || blog.CodeOf(err) != code {
		w.t.Fatalf("the error is %v, want %s", err, code)
	}
}

// stillClock stands still until it is moved.
type stillClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stillClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
